// Asks every two seconds how the run stands; all text is set as text, never as markup. When it has ended the page is loaded anew.
"use strict";

(() => {
  const section = document.getElementById("live");
  const body = document.getElementById("phases");
  const words = document.getElementById("live-words");
  const every = 2000;

  const time = (seconds) => {
    if (seconds === null) return "-";
    if (seconds < 10) return `${seconds.toFixed(1)} s`;
    const whole = Math.round(seconds);
    if (whole < 60) return `${whole} s`;
    return whole % 60 ? `${Math.floor(whole / 60)} min ${whole % 60} s` : `${whole / 60} min`;
  };

  const cell = (tag, text, className) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const row = (phase) => {
    const made = document.createElement("tr");
    made.className = phase.state.replaceAll(" ", "-");
    const name = cell("th", phase.name);
    name.scope = "row";
    const state = cell("td", ` ${phase.state}`);
    const sign = cell("span", phase.sign);
    sign.setAttribute("aria-hidden", "true");
    state.prepend(sign);
    made.append(name, state, cell("td", phase.detail), cell("td", time(phase.seconds), "number"));
    return made;
  };

  const show = (run) => {
    body.replaceChildren(...run.phases.map(row));
    const text = run.state === "queued" ? `In the queue for ${time(run.waited)}.` : `Running for ${time(run.seconds)}.`;
    if (words.textContent !== text) words.textContent = text;
  };

  const look = async () => {
    try {
      const answer = await fetch(section.dataset.source, { headers: { Accept: "application/json" }, redirect: "error" });
      if (answer.status === 401 || answer.status === 404) return location.reload();
      if (!answer.ok) throw new Error(answer.status);
      const run = await answer.json();
      if (run.ended) return location.reload();
      show(run);
    } catch {
      words.textContent = "The server does not answer; asking again.";
    }
    setTimeout(look, every);
  };

  setTimeout(look, every);
})();
