for view in stages steps workers line epochs ranges labels modules functions ops sync kernels cuda; do echo "$view:"; $REPORT $view --thread=105 v2/run.zst -n 1; done
