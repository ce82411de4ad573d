// el returns a new element. Functions among the attributes are listeners, and absent and false attributes are left out.
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, '');
    else if (value !== undefined && value !== null && (value !== false || key.startsWith('aria-') || key === 'spellcheck')) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// colored gives an element the color of a manager.
export function colored(element, hue) {
  element.classList.add('m');
  element.style.setProperty('--hue', hue);
  return element;
}

export const $ = (id) => document.getElementById(id);
