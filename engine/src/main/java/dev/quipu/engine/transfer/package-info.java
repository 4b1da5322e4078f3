/** Complete data directories as a sequence of entries, independent of the format of their files. */
@NullMarked
package dev.quipu.engine.transfer;

import org.jspecify.annotations.NullMarked;
