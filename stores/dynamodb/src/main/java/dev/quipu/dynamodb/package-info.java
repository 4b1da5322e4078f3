/** Store driver for Amazon DynamoDB. */
@NullMarked
package dev.quipu.dynamodb;

import org.jspecify.annotations.NullMarked;
