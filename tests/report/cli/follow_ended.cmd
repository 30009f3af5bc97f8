$REPORT summary --follow --interval=0.1 v1/ranks.zst -n 1 | sed -n "/^overhead/p;/^no stages/p"
