/** Tests of the driver for DynamoDB on DynamoDB Local. */
@NullMarked
package dev.quipu.dynamodb;

import org.jspecify.annotations.NullMarked;
