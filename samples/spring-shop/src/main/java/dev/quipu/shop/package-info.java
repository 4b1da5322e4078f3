/** A shop that counts views, stock, orders per user and invoices exactly. */
@NullMarked
package dev.quipu.shop;

import org.jspecify.annotations.NullMarked;
