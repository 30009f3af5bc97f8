sed -n '/^```verdicts$/,/^```$/{/^```/!p}' ../../../docs/VERDICT.md >"$work/documented"; $REPORT --width=0 explain | sed '/^code .*says$/,$d; /^$/d' | diff "$work/documented" -
