// Chromium under LANG=C calls its language en-US@posix, which Intl refuses. uPlot formats numbers in it as it loads.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en' });
}

export {};
