# SPDX-License-Identifier: Apache-2.0
"""pictures.py PAGE FOLDER: page-light.png and page-dark.png, as docs/ has them: the pictures,
without the long tables; narrow.png, to look at.
"""

import sys
import time

import chromium

PICTURES = """
    for (const e of document.querySelectorAll("main > section, .scroll, .filter, #account dl, .line"))
        if (!["verdict", "account", "steps", "timeline"].includes(e.id))
            e.hidden = true;
    for (const e of document.querySelectorAll(".filter"))
        e.style.display = "none";
    for (const e of document.querySelectorAll("header code"))
        e.remove(); /* it has the paths of a machine */
"""

with chromium.Chromium() as browser:
    for name, theme, width in (
        ("page-light", "light", 1100),
        ("page-dark", "dark", 1100),
        ("narrow", "light", 420),
    ):
        browser.theme(theme)
        browser.window(width, 900)
        browser.open(sys.argv[1])
        if width > 1000:
            browser.do(PICTURES)
        browser.window(width, min(browser.value("document.body.scrollHeight"), 6000))
        time.sleep(0.5)
        browser.picture(f"{sys.argv[2]}/{name}.png")
