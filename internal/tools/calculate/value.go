package calculate

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// value is exact where it can be. A nil exact means float.
type value struct {
	exact *big.Rat
	float float64
}

var (
	errDivision = errors.New("division by zero")
	errTooLarge = errors.New("the result has too many digits")
)

// exactly bounds an exact value.
func exactly(r *big.Rat) (value, error) {
	const bits = maxDigits * 3322 / 1000
	if r.Num().BitLen() > bits || r.Denom().BitLen() > bits {
		return value{}, errTooLarge
	}
	return value{exact: r}, nil
}

// roughly refuses what is no number.
func roughly(f float64) (value, error) {
	switch {
	case math.IsNaN(f):
		return value{}, errors.New("the result is not a real number")
	case math.IsInf(f, 0):
		return value{}, errors.New("the result is too large for a float64")
	}
	return value{float: f}, nil
}

func (v value) asFloat() float64 {
	if v.exact == nil {
		return v.float
	}
	f, _ := v.exact.Float64()
	return f
}

func (v value) negated() value {
	if v.exact == nil {
		return value{float: -v.float}
	}
	return value{exact: new(big.Rat).Neg(v.exact)}
}

func (v value) sign() int {
	if v.exact != nil {
		return v.exact.Sign()
	}
	switch {
	case v.float > 0:
		return 1
	case v.float < 0:
		return -1
	}
	return 0
}

func combine(op string, a, b value) (value, error) {
	if (op == "/" || op == "%") && b.sign() == 0 {
		return value{}, errDivision
	}
	if op == "^" || op == "**" {
		return power(a, b)
	}
	if a.exact == nil || b.exact == nil {
		return combineFloats(op, a.asFloat(), b.asFloat())
	}
	r := new(big.Rat)
	switch op {
	case "+":
		r.Add(a.exact, b.exact)
	case "-":
		r.Sub(a.exact, b.exact)
	case "*":
		r.Mul(a.exact, b.exact)
	case "/":
		r.Quo(a.exact, b.exact)
	case "%":
		q := new(big.Rat).SetInt(truncated(new(big.Rat).Quo(a.exact, b.exact)))
		r.Sub(a.exact, q.Mul(q, b.exact))
	}
	return exactly(r)
}

func combineFloats(op string, a, b float64) (value, error) {
	switch op {
	case "+":
		return roughly(a + b)
	case "-":
		return roughly(a - b)
	case "*":
		return roughly(a * b)
	case "/":
		return roughly(a / b)
	}
	return roughly(math.Mod(a, b))
}

// power is exact for whole exponents.
func power(a, b value) (value, error) {
	if a.sign() == 0 && b.sign() < 0 {
		return value{}, errDivision
	}
	if a.exact == nil || b.exact == nil || !b.exact.IsInt() {
		return roughly(math.Pow(a.asFloat(), b.asFloat()))
	}
	n := b.exact.Num()
	size := max(a.exact.Num().BitLen(), a.exact.Denom().BitLen())
	if size > 1 && (!n.IsInt64() || abs(n.Int64()) > maxDigits*4/int64(size-1)) {
		return value{}, errTooLarge
	}
	e := new(big.Int).Abs(n)
	if size <= 1 {
		e.And(e, big.NewInt(1)) // 0, 1 and -1: only odd or even matters
		if a.exact.Sign() == 0 && n.Sign() != 0 {
			e.SetInt64(1)
		}
	}
	num, den := new(big.Int).Exp(a.exact.Num(), e, nil), new(big.Int).Exp(a.exact.Denom(), e, nil)
	if n.Sign() < 0 {
		num, den = den, num
	}
	return exactly(new(big.Rat).SetFrac(num, den))
}

// truncated drops the fraction.
func truncated(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }

func floor(r *big.Rat) *big.Int { return new(big.Int).Div(r.Num(), r.Denom()) }

func constant(name string) (value, bool) {
	switch name {
	case "pi":
		return value{float: math.Pi}, true
	case "e":
		return value{float: math.E}, true
	}
	return value{}, false
}

// function is a name that can be called.
type function struct {
	least, most int
	apply       func([]value) (value, error)
}

func (f function) takes() string {
	switch {
	case f.most == math.MaxInt:
		return fmt.Sprintf("at least %d argument", f.least)
	case f.least == f.most:
		return fmt.Sprintf("%d argument", f.least)
	}
	return fmt.Sprintf("%d or %d arguments", f.least, f.most)
}

const functionNames = "sqrt, abs, min, max, round, floor, ceil, log, ln, exp, sin, cos, tan"

var functions = map[string]function{
	"sqrt": {1, 1, squareRoot}, "abs": {1, 1, magnitude}, "round": {1, 2, rounded}, "log": {1, 1, decimalLog},
	"min":   {1, math.MaxInt, func(a []value) (value, error) { return pick(a, -1), nil }},
	"max":   {1, math.MaxInt, func(a []value) (value, error) { return pick(a, 1), nil }},
	"floor": {1, 1, whole(floor, math.Floor)},
	"ceil": {1, 1, whole(func(r *big.Rat) *big.Int {
		n := floor(new(big.Rat).Neg(r))
		return n.Neg(n)
	}, math.Ceil)},
	"ln":  {1, 1, naturalLog},
	"exp": {1, 1, of(math.Exp)}, "sin": {1, 1, of(math.Sin)}, "cos": {1, 1, of(math.Cos)}, "tan": {1, 1, of(math.Tan)},
}

func of(f func(float64) float64) func([]value) (value, error) {
	return func(a []value) (value, error) { return roughly(f(a[0].asFloat())) }
}

func whole(exact func(*big.Rat) *big.Int, rough func(float64) float64) func([]value) (value, error) {
	return func(a []value) (value, error) {
		if a[0].exact == nil {
			return roughly(rough(a[0].float))
		}
		return value{exact: new(big.Rat).SetInt(exact(a[0].exact))}, nil
	}
}

func magnitude(a []value) (value, error) {
	if a[0].sign() < 0 {
		return a[0].negated(), nil
	}
	return a[0], nil
}

// pick returns the largest for 1, the smallest for -1.
func pick(a []value, want int) value {
	best := a[0]
	for _, v := range a[1:] {
		if compare(v, best) == want {
			best = v
		}
	}
	return best
}

func compare(a, b value) int {
	if a.exact != nil && b.exact != nil {
		return a.exact.Cmp(b.exact)
	}
	switch x, y := a.asFloat(), b.asFloat(); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// squareRoot is exact for squares of rationals.
func squareRoot(a []value) (value, error) {
	if a[0].sign() < 0 {
		return value{}, errors.New("the root of a negative number is not a real number")
	}
	if r := a[0].exact; r != nil {
		n, d := new(big.Int).Sqrt(r.Num()), new(big.Int).Sqrt(r.Denom())
		if new(big.Int).Mul(n, n).Cmp(r.Num()) == 0 && new(big.Int).Mul(d, d).Cmp(r.Denom()) == 0 {
			return value{exact: new(big.Rat).SetFrac(n, d)}, nil
		}
	}
	return roughly(math.Sqrt(a[0].asFloat()))
}

// rounded goes to the nearest, halves away from zero, at a number of decimals.
func rounded(a []value) (value, error) {
	places := int64(0)
	if len(a) == 2 {
		if a[1].exact == nil || !a[1].exact.IsInt() || !a[1].exact.Num().IsInt64() || abs(a[1].exact.Num().Int64()) > 1000 {
			return value{}, errors.New("round takes a whole number of decimals, 1000 at most")
		}
		places = a[1].exact.Num().Int64()
	}
	r := a[0].exact
	if r == nil {
		r = new(big.Rat)
		if r.SetFloat64(a[0].float) == nil {
			return value{}, errors.New("the result is not a real number")
		}
	}
	scale := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(abs(places)), nil))
	if places < 0 {
		scale.Inv(scale)
	}
	half := big.NewRat(int64(r.Sign()), 2)
	n := truncated(half.Add(half, new(big.Rat).Mul(r, scale)))
	v := new(big.Rat).Quo(new(big.Rat).SetInt(n), scale)
	if a[0].exact == nil {
		f, _ := v.Float64()
		return roughly(f)
	}
	return exactly(v)
}

var errLog = errors.New("the logarithm needs a positive number")

func naturalLog(a []value) (value, error) {
	if a[0].sign() <= 0 {
		return value{}, errLog
	}
	return roughly(math.Log(a[0].asFloat()))
}

// decimalLog is exact for powers of ten.
func decimalLog(a []value) (value, error) {
	if a[0].sign() <= 0 {
		return value{}, errLog
	}
	if r := a[0].exact; r != nil {
		if n, ok := tens(r.Num()); ok && r.IsInt() {
			return value{exact: big.NewRat(n, 1)}, nil
		}
		if n, ok := tens(r.Denom()); ok && r.Num().IsInt64() && r.Num().Int64() == 1 {
			return value{exact: big.NewRat(-n, 1)}, nil
		}
	}
	return roughly(math.Log10(a[0].asFloat()))
}

// tens is n for 10^n.
func tens(i *big.Int) (int64, bool) {
	n := int64(len(i.String()) - 1)
	return n, new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil).Cmp(i) == 0
}
