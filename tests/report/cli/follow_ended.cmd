$REPORT summary --follow --interval=0.1 v2/ranks.zst -n 1 | sed -n "/^overhead/p;/^no stages/p"
