package ir

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// CheckValue refuses a Go value that is not I-JSON, with the path of an offence
// (E-JCS-2): the rules of CheckText, and Go types that JSON has no word for
// (channels, functions, complex numbers, maps without string keys, []byte).
// Structs, typed slices and maps and marshallers are judged by what they would
// encode to. It never panics and never loops.
func CheckValue(v any) error { return asError(checkValue(v, 0)) }

// checkValue judges the types of decoded JSON without reflection; depth counts
// the containers around v.
func checkValue(v any, depth int) *PathError {
	switch v := v.(type) {
	case nil, bool:
		return nil
	case string:
		return checkString(v)
	case float64:
		return checkFloat(v)
	case []any:
		if depth++; depth > maxDepth {
			return tooDeep()
		}
		for i, item := range v {
			if e := checkValue(item, depth); e != nil {
				return e.at(i)
			}
		}
		return nil
	case map[string]any:
		return checkMap(v, depth+1)
	case Proposal:
		return checkProposal(&v, depth+1)
	case Action:
		return checkAction(&v, depth+1)
	case json.Number:
		if !json.Valid([]byte(v)) || v[0] == '"' {
			return &PathError{Problem: fmt.Sprintf("%q is no number", string(v))}
		}
		return checkText([]byte(v), depth)
	}
	return checkReflect(reflect.ValueOf(v), depth)
}

// checkMap names the first offending member in name order, so that the same
// value always gets the same message.
func checkMap(m map[string]any, depth int) *PathError {
	if depth > maxDepth {
		return tooDeep()
	}
	var first *PathError
	var firstName string
	for name, item := range m {
		e := checkString(name)
		if e == nil {
			e = checkValue(item, depth)
		}
		if e != nil && (first == nil || name < firstName) {
			first, firstName = e, name
		}
	}
	return first.in(firstName)
}

func checkString(s string) *PathError {
	if !utf8.ValidString(s) {
		return &PathError{Problem: "invalid UTF-8"}
	}
	return nil
}

// checkReflect judges every other Go type by what encoding/json makes of it.
func checkReflect(v reflect.Value, depth int) *PathError {
	for hops := 0; v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface; hops++ {
		if v.IsNil() {
			return nil
		}
		if hops > maxDepth { // a pointer that leads to itself
			return tooDeep()
		}
		if e, ok := checkMarshaler(v, depth); ok {
			return e
		}
		v = v.Elem()
	}
	if e, ok := checkMarshaler(v, depth); ok {
		return e
	}
	switch {
	case v.Kind() == reflect.Bool:
		return nil
	case v.Kind() == reflect.String:
		return checkString(v.String())
	case v.CanInt():
		return checkInteger(v.Int() <= maxExactInteger && v.Int() >= -maxExactInteger, v)
	case v.CanUint() && v.Kind() != reflect.Uintptr:
		return checkInteger(v.Uint() <= maxExactInteger, v)
	case v.CanFloat():
		return checkFloat(v.Float())
	}
	return checkContainer(v, depth+1)
}

func checkInteger(exact bool, v reflect.Value) *PathError {
	if exact {
		return nil
	}
	return beyondExact(fmt.Sprint(v.Interface()))
}

// checkMarshaler judges a type that writes its own JSON by what it writes.
func checkMarshaler(v reflect.Value, depth int) (*PathError, bool) {
	if !v.IsValid() || !v.CanInterface() {
		return nil, false
	}
	switch m := v.Interface().(type) {
	case json.Marshaler:
		text, err := m.MarshalJSON()
		if err != nil {
			return &PathError{Problem: err.Error()}, true
		}
		return checkText(text, depth), true
	case encoding.TextMarshaler:
		text, err := m.MarshalText()
		if err != nil {
			return &PathError{Problem: err.Error()}, true
		}
		return checkString(string(text)), true
	}
	return nil, false
}

func checkContainer(v reflect.Value, depth int) *PathError {
	if depth > maxDepth {
		return tooDeep()
	}
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		// encoding/json would turn bytes into base64 text, another value.
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return notJSON(v.Type())
		}
		for i := range v.Len() {
			if e := checkInner(v.Index(i), depth); e != nil {
				return e.at(i)
			}
		}
		return nil
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return notJSON(v.Type())
		}
		plain := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			plain[it.Key().String()] = it.Value().Interface()
		}
		return checkMap(plain, depth)
	case reflect.Struct:
		return checkStruct(v, depth)
	}
	return notJSON(v.Type())
}

func checkStruct(v reflect.Value, depth int) *PathError {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" {
			continue
		}
		if name == "" {
			name = field.Name
		}
		if e := checkInner(v.Field(i), depth); e != nil {
			return e.in(name)
		}
	}
	return nil
}

// checkInner sends plain values down the fast path.
func checkInner(v reflect.Value, depth int) *PathError { return checkValue(v.Interface(), depth) }

func notJSON(t reflect.Type) *PathError {
	return &PathError{Problem: fmt.Sprintf("go type %s is no JSON value", t)}
}
