package shell

import (
	"strings"
	"testing"
)

// foreignCode reports the problem that text from outside would be run.
func foreignCode(text string) bool {
	for _, p := range Read(text, testOptions()).Problems {
		if p.Kind == Opaque && strings.Contains(p.Text, "bash would run commands inside it") {
			return true
		}
	}
	return false
}

// G-SHELL-2, P-GUARD-4: bash runs a[$(command)] wherever it wants a number or the
// name of a variable. Text that stands in no part of the call must not get there
// unseen: a file could say what runs, in a call that only reads.
func TestTextFromOutsideIsCodeWhereANumberIsWanted(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`read -r x < f; [[ $x -eq 1 ]]`, `while read -r x; do [[ 3 -lt $x ]]; done < f`, `x=$(cat f); echo $((x))`, `x=$(<f); (( x > 1 ))`,
		`mapfile -t l < f; [[ ${l[0]} -eq 0 ]]`, `read -r x < f; echo ${y:x}`, `read -r x < f; let y=x`, `read -r x < f; let "y=$x"`,
		`read -r x < f; y[$x]=1`, `read -r x < f; echo ${y[$x]}`, `read -r x < f; for ((i=x;i<1;i++)); do :; done`,
		`[[ $(cat f) -eq 1 ]]`, `[[ 1 -ge "$(cat f)" ]]`, `set -- $(cat f); [[ $1 -eq 1 ]]`, `for x in $(cat f); do ((x)); done`, `for f in *; do [[ $f -eq 1 ]]; done`,
		// by way of other names and of pieces
		`x=$(cat f); z=x; [[ z -eq 1 ]]`, `x=$(cat f); e='x+1'; echo $((e))`, `x=$(cat f); x=${x%z}; ((x))`, `declare -n r=x; read -r x < f; ((r))`,
		`f() { [[ $1 -eq 1 ]]; }; f $(cat f)`, `f() { ((${1%x})); }; f "$(cat f)"`, `bash -c '(($1))' _ "$(cat f)"`,
		// integers, whoever sets them
		`declare -i y; read -r y < f`, `declare -i y=$(cat f)`, `local -i y; y=$(cat f)`, `declare -i y; for y in $(cat f); do :; done`, `declare -i y; printf -v y %s "$(cat f)"`,
		// names
		`read "$(cat f)" < g`, `read -a "$(cat f)" < g`, `x=$(cat f); printf -v "$x" y`, `x=$(cat f); test -v "$x"`, `x=$(cat f); [[ -v $x ]]`, `x=$(cat f); unset "$x"`,
		`x=$(cat f); declare -n r=$x`, `read -r x < f; read "y[x]" < g`, `x=$(cat f); declare "$x"`,
		// what prints a number only sometimes
		`n=$(grep -c x *); ((n))`, `n=$(grep -rc x .); ((n))`, `n=$(wc -l f); ((n))`, `n=$(wc -l < f; cat g); ((n))`, `n=$(date +%Z); ((n))`, `n=$(cat f || echo 0); ((n))`,
		`n=$(wc -l < f); n=$n$(cat f); ((n))`,
	} {
		if !foreignCode(text) {
			t.Errorf("%s: nothing is said", text)
		}
	}
}

// G-SHELL-2, P-GUARD-3: numbers stay numbers, so that counting asks nobody.
func TestNumbersAreNoCode(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`n=$(wc -l < f); [[ $n -gt 3 ]]`, `n=$(git rev-list --count HEAD); [[ $n -gt 3 ]]`, `n=$(ls | wc -l); echo $((n+1))`, `n=$(grep -c x f || true); ((n))`, `n=$(grep -ic x < f || echo 0); ((n))`,
		`n=$([ -f f ] && wc -c < f); ((n))`, `n=$(tr -cd 0-9 < f); ((n))`, `s=$(date +%s); e=$(date -u +%s); echo $((e-s))`, `n=$(stat -c %s f); ((n))`, `n=$(id -u); ((n))`,
		`i=0; while read -r l; do i=$((i+1)); done < f; [[ $i -gt 2 ]]`, `i=0; for f in *; do ((i++)); done; ((i))`, `for ((i=0;i<10;i++)); do [[ $i -gt 2 ]]; done`,
		`for i in $(seq 1 200); do [[ $i -gt 3 ]]; done`, `[[ $? -eq 0 ]]`, `[[ $# -lt 1 ]]`, `echo $((COLUMNS-1)) ${#PATH}`,
		`x=$(cat f); [[ $x == y* && -n $x ]]; [ "$x" = z ]; [ "$x" -eq 1 ]`, `x=$(cat f); echo ${x:0:10} ${x%%:*} ${#x}`,
		`declare -A m; while read -r k; do m[$k]=1; done < f; echo ${m[$k]} ${#m[@]}`, `a=(1 2); echo ${a[0]} ${a[@]} ${a[-1]}`,
		`while read -r a b; do echo "$a"; done < f; unset a`, `mapfile -t l < f; for x in "${l[@]}"; do echo "$x"; done`,
		`declare -i n=0; n+=1; ((n))`, `f() { local n=$1; [[ $n -gt 1 ]]; }; f 3`, `if ls; then n=1; else n=2; fi; [[ $n -eq 1 ]]`, `read -r x < f; read -r x < g`,
	} {
		if foreignCode(text) {
			t.Errorf("%s: is taken for code", text)
		}
	}
}
