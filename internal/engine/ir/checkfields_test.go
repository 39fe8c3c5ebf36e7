package ir_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"car/internal/engine/ir"
)

// E-JCS-2: no field of a proposal or an action escapes the check of its digest,
// one that is added later included.
func TestDigestChecksEveryField(t *testing.T) {
	t.Parallel()
	checkFields(t, reflect.TypeFor[ir.Proposal](), func(v reflect.Value) error {
		_, err := v.Interface().(ir.Proposal).Digest()
		return err
	})
	checkFields(t, reflect.TypeFor[ir.Action](), func(v reflect.Value) error {
		_, err := v.Interface().(ir.Action).Digest()
		return err
	})
}

// checkFields puts something that is no JSON into each field by turns.
func checkFields(t *testing.T, of reflect.Type, digest func(reflect.Value) error) {
	t.Helper()
	for i := range of.NumField() {
		field := of.Field(i)
		v := reflect.New(of).Elem()
		if !spoil(v.Field(i)) {
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if err := digest(v); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s.%s: %v", of, field.Name, err)
		}
	}
}

// spoil puts invalid UTF-8 or NaN somewhere into a value, and reports whether the
// value can hold any.
func spoil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		v.SetString("\xff")
	case reflect.Interface:
		v.Set(reflect.ValueOf(math.NaN()))
	case reflect.Map:
		v.Set(reflect.ValueOf(map[string]any{"x": math.NaN()}))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return spoil(v.Index(0))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return spoil(v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && spoil(v.Field(i)) {
				return true
			}
		}
		return false
	default:
		return false
	}
	return true
}
