# The options of the JVM for a command. Sourced by quipu and by bin/quipu of the tarball, which wait
# for it: it starts no other programs.

# Sets options. At most half of the memory of the machine, or of the container, is heap, also for
# commands that open a data directory, which need as much as the server that filled it. Buffers of
# the network have a limit of their own (dev.quipu.server.Main). JAVA_OPTS comes last, and wins.
java_options() { # KIND: long, import, short or get; [VERSION of Java]
  local collector=()
  options=(-XX:MaxRAMPercentage=50)
  # Netty is faster with this access, and starts sooner. Other libraries use it in any case.
  [ "${2:-0}" -lt 24 ] || options+=(--sun-misc-unsafe-memory-access=allow)
  case $1 in
    # Returns the memory of a burst to the machine once a server is idle.
    long)
      options+=(-XX:G1PeriodicGCInterval=60000 -XX:MinHeapFreeRatio=20 -XX:MaxHeapFreeRatio=40)
      # The counters of jstat are written to a file, and a slow disk would stop the JVM.
      options+=(-XX:-UsePerfData)
      case $OSTYPE in
        linux*)
          # Lookups in large tables read memory at random, and would miss the addresses of small
          # pages, too. Java warns where the system has no large ones.
          local pages=''
          { read -r pages < /sys/kernel/mm/transparent_hugepage/enabled; } 2> /dev/null || true
          case $pages in
            *'[always]'* | *'[madvise]'*) options+=(-XX:+UseTransparentHugePages) ;;
          esac
          # The provider that Java takes in any case: named, it does not search the jar for others.
          options+=(-Djava.nio.channels.spi.SelectorProvider=sun.nio.ch.EPollSelectorProvider)
          ;;
      esac
      ;;
    # Half the memory of the concurrent collector, and as fast.
    import) collector=(-XX:+UseSerialGC) ;;
    # Commands that end soon compile less, and start with a small heap.
    *) options+=(-XX:TieredStopAtLevel=1 -Xms24m) collector=(-XX:+UseSerialGC) ;;
  esac
  case " ${JAVA_OPTS:-} " in # of two collectors, the JVM accepts neither
    *' -XX:+Use'*'GC '*) ;;
    *) options+=("${collector[@]}") ;;
  esac
  set -f # no file names
  options+=(${JAVA_OPTS:-})
  set +f
}
