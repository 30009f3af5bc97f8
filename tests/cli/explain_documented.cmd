sed -n '/^```verdicts$/,/^```$/{/^```/!p}' ../../docs/VERDICT.md >"$work/documented"; $REPORT --width=0 explain | diff "$work/documented" -
