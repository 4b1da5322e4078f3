const BIDI = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name as it is shown: characters that change the direction of text are visible. */
export function shown(name) {
  return name.replace(
    BIDI,
    (each) => `\u27e8U+${each.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}\u27e9`,
  );
}

/** Groups the digits of a decimal by thousands, without a conversion to a number. */
export function grouped(decimal) {
  const [whole, fraction] = String(decimal).split('.');
  const digits = whole.replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
  return fraction === undefined ? digits : `${digits}.${fraction}`;
}

/** The exact sum of decimals. */
export function added(decimals) {
  const places = Math.max(0, ...decimals.map((each) => (each.split('.')[1] ?? '').length));
  const units = decimals
    .map((each) => each.split('.'))
    .reduce((total, [whole, fraction = '']) => total + BigInt(whole + fraction.padEnd(places, '0')), 0n);
  const digits = String(units < 0n ? -units : units).padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  return (units < 0n ? '-' : '') + (places ? `${whole}.${digits.slice(-places)}` : whole);
}

/** A time in ISO 8601 as that of this place, to the second. */
export function local(time) {
  const at = new Date(time);
  const two = (number) => String(number).padStart(2, '0');
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** A text as one word of a shell; characters that change the direction of text as escapes of bash and zsh. */
export function quoted(text) {
  if (text.search(BIDI) >= 0) {
    return `$'${text.replace(/['\\]/g, '\\$&').replace(BIDI, escaped)}'`;
  }
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function escaped(each) {
  return `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A text as the value of an attribute of HTML. */
export function attribute(text) {
  return text.replace(/[&"<>]/g, reference).replace(BIDI, reference);
}

function reference(each) {
  return `&#${each.charCodeAt(0)};`;
}

/** A text as a literal of Java. */
export function javaString(text) {
  return JSON.stringify(text).replace(
    /[\u007f-\uffff]/g,
    escaped,
  );
}
