/** Tests of this package. */
@NullMarked
package dev.quipu.engine.commit;

import org.jspecify.annotations.NullMarked;
