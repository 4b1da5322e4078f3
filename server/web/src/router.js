import { computed, signal } from '@preact/signals';

// The place is in the fragment, so that the server has one page, and names are never in a path.
const fragment = signal(location.hash);

addEventListener('hashchange', () => {
  fragment.value = location.hash;
});

export const place = computed(() => {
  const [page, query = ''] = fragment.value.replace(/^#\/?/, '').split('?');
  return { page: page || 'overview', query: Object.fromEntries(new URLSearchParams(query)) };
});

export function href(page, query = {}) {
  const present = Object.fromEntries(Object.entries(query).filter(([, value]) => value));
  const text = new URLSearchParams(present).toString();
  return `#/${page}${text ? `?${text}` : ''}`;
}
