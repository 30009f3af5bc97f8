$REPORT --follow --interval=0.1 v1/ranks.zst -n 1 | sed -n "/^own cost/p;/^stage /p"
