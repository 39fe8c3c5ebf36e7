package project

import (
	"encoding"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// decode reads TOML into v, a pointer to a struct of `toml` tags, strictly: an
// unknown key, another letter case, a wrong type or word is an error with its line
// and key, and all are reported. It returns the line of every key.
func decode(file string, data []byte, v any) (map[string]int, error) {
	var tree map[string]any
	if _, err := toml.Decode(string(data), &tree); err != nil {
		return nil, malformed(file, err)
	}
	c := checker{file: file, lines: locate(string(data))}
	c.table("", tree, reflect.TypeOf(v).Elem())
	if len(c.errs) > 0 {
		return c.lines, errors.Join(c.errs...)
	}
	md, err := toml.Decode(string(data), v)
	if err != nil {
		return c.lines, malformed(file, err)
	}
	// The checker reports these already; this holds if it ever missed one.
	for _, key := range md.Undecoded() {
		if c.isFree(key) {
			continue
		}
		return c.lines, &Error{File: file, Line: c.lines[key.String()], Key: key.String(), Problem: "unknown key"}
	}
	return c.lines, nil
}

// isFree reports whether a key stands under one whose keys are the author's own. The
// library leaves the numbers of lists out of its keys.
func (c *checker) isFree(key toml.Key) bool {
	return slices.ContainsFunc(c.free, func(path string) bool { return strings.HasPrefix(key.String(), withoutNumbers(path)+".") })
}

// withoutNumbers is a path such as tool[0].returns without the numbers of its lists.
func withoutNumbers(path string) string {
	var b strings.Builder
	for {
		open := strings.IndexByte(path, '[')
		end := strings.IndexByte(path, ']')
		if open < 0 || end < open {
			return b.String() + path
		}
		b.WriteString(path[:open])
		path = path[end+1:]
	}
}

func malformed(file string, err error) error {
	var p toml.ParseError
	if !errors.As(err, &p) {
		return &Error{File: file, Problem: strings.TrimPrefix(err.Error(), "toml: "), Err: err}
	}
	return &Error{File: file, Line: p.Position.Line, Key: p.LastKey, Problem: p.Message, Err: err}
}

// checker compares a decoded tree with the Go type it is meant for.
type checker struct {
	file  string
	lines map[string]int
	errs  []error
	// free are the paths under which any key may stand.
	free []string
}

func (c *checker) bad(path, hint, format string, args ...any) {
	c.errs = append(c.errs, &Error{File: c.file, Line: c.lines[path], Key: path, Problem: fmt.Sprintf(format, args...), Hint: hint})
}

// table checks the keys of a table in order, so that messages have one.
func (c *checker) table(path string, tree map[string]any, t reflect.Type) {
	fields := fieldsOf(t)
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		at := join(path, key)
		if t.Kind() == reflect.Map {
			c.value(at, tree[key], t.Elem())
			continue
		}
		field, known := fields[key]
		if !known {
			hint := ""
			if near := nearest(key, slices.Sorted(maps.Keys(fields))); near != "" {
				hint = fmt.Sprintf("is %q meant?", near)
			}
			c.bad(at, hint, "unknown key")
			continue
		}
		c.value(at, tree[key], field)
	}
}

// value checks one value; what it does not know it leaves to the decoder.
func (c *checker) value(path string, v any, t reflect.Type) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if word, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
		text, isText := v.(string)
		if !isText {
			c.bad(path, "", "must be text, not %s", kindOf(v))
		} else if err := word.UnmarshalText([]byte(text)); err != nil {
			c.bad(path, "", "%v", err)
		}
		return
	}
	switch list, isList := v.([]map[string]any); {
	case t.Kind() == reflect.Interface:
		c.free = append(c.free, path)
	case t.Kind() == reflect.Slice && isList:
		for i := range list {
			c.value(fmt.Sprintf("%s[%d]", path, i), list[i], t.Elem())
		}
	case t.Kind() == reflect.Slice:
		c.list(path, v, t)
	case t.Kind() == reflect.Struct, t.Kind() == reflect.Map:
		if table, ok := v.(map[string]any); ok {
			c.table(path, table, t)
		} else {
			c.bad(path, "", "must be a table, not %s", kindOf(v))
		}
	default:
		c.scalar(path, v, t)
	}
}

func (c *checker) list(path string, v any, t reflect.Type) {
	items, ok := v.([]any)
	if !ok {
		c.bad(path, "", "must be a list, not %s", kindOf(v))
		return
	}
	for i, item := range items {
		c.value(fmt.Sprintf("%s[%d]", path, i), item, t.Elem())
	}
}

func (c *checker) scalar(path string, v any, t reflect.Type) {
	var want string
	var ok bool
	switch t.Kind() {
	case reflect.String:
		_, ok = v.(string)
		want = "text"
	case reflect.Bool:
		_, ok = v.(bool)
		want = "true or false"
	case reflect.Int, reflect.Int64:
		_, ok = v.(int64)
		want = "a whole number"
	case reflect.Float64:
		_, isFloat := v.(float64)
		_, isInt := v.(int64)
		ok, want = isFloat || isInt, "a number"
	default:
		ok = true
	}
	if !ok {
		c.bad(path, "", "must be %s, not %s", want, kindOf(v))
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case bool:
		return "true or false"
	case int64, float64:
		return "a number"
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	default:
		return "a date or time"
	}
}

// fieldsOf maps the keys of a struct to the types of their values.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for f := range t.Fields() {
		if key, _, _ := strings.Cut(f.Tag.Get("toml"), ","); key != "" && key != "-" {
			fields[key] = f.Type
		}
	}
	return fields
}
