package gate

import (
	"strings"
	"testing"

	"car/internal/engine/ir"
)

// productionOf builds the gate of a row.
func productionOf(t *testing.T, r *row) *Production {
	t.Helper()
	if len(r.set) == 0 {
		g, err := NewProduction(nil)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	f := ProductionFile{Path: "/p/.car/production-gates.toml", Trusted: r.set["untrusted"] == nil, Outer: r.set["outer"] != nil}
	kind := func(text string) (k Kind) {
		if err := k.UnmarshalText([]byte(text)); err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		return k
	}
	for _, text := range r.set["gate"] {
		part := strings.Split(text, "|")
		f.Gates = append(f.Gates, ProductionGate{Name: part[0], Action: kind(part[1]), Check: part[2]})
	}
	for _, text := range r.set["required"] {
		f.Required = append(f.Required, kind(text))
	}
	g, err := NewProduction([]ProductionFile{f})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// G-PROD-1, G-PROD-2, T-SHELL-13, T-SHELL-14, D-41: what is guarded, what is refused, and the attempts
// to get around it.
func TestProductionRows(t *testing.T) {
	t.Parallel()
	for _, r := range readRows(t, "production") {
		p := newProject(t, r.files)
		o, v := r.run(t, p, productionOf(t, r))
		r.compare(t, o)
		var checks []string
		for _, c := range o.Checks {
			checks = append(checks, string(c.Action)+" "+c.Name+": "+c.Text)
			if c.Tool != "shell" || c.Parameters["command"] != c.Text {
				t.Errorf("%s: check %+v", r.name, c)
			}
		}
		if strings.Join(checks, "; ") != r.checks {
			t.Errorf("%s: %s\n checks %s\n want   %s", r.file, r.name, strings.Join(checks, "; "), r.checks)
		}
		_ = v
	}
}

// G-PROD-1: blank fields are invalid, each named; an unknown action too.
func TestProductionRefusesBlankFields(t *testing.T) {
	t.Parallel()
	f := ProductionFile{Path: "f", Gates: []ProductionGate{{Name: " ", Check: "\t"}}}
	var got []string
	for _, err := range f.Validate() {
		got = append(got, err.Error())
	}
	if strings.Join(got, "; ") != "gates[0].name: must not be blank; gates[0].check: must not be blank; gates[0].action: must not be blank" {
		t.Errorf("%q", got)
	}
	if _, err := NewProduction([]ProductionFile{f}); err == nil || !strings.HasPrefix(err.Error(), "f: gates[0]") {
		t.Errorf("%v", err)
	}
	var k Kind
	for _, word := range []string{"deploy", "", "Database"} {
		if err := k.UnmarshalText([]byte(word)); err == nil {
			t.Errorf("%q passed", word)
		}
	}
	for k := Database; k <= Publish; k++ {
		var back Kind
		if err := back.UnmarshalText([]byte(k.String())); err != nil || back != k {
			t.Errorf("%s: %v", k, err)
		}
	}
}

// P-GUARD-1: what was refused before is not guarded, and needs no check.
func TestProductionLeavesOutWhatIsRefused(t *testing.T) {
	t.Parallel()
	r := &row{steps: []step{{tool: "shell", arg: "psql -c x"}}, set: map[string][]string{}}
	p := newProject(t, nil)
	g := productionOf(t, r)
	_, v := r.run(t, p, g)
	delete(v.Judged, ir.ActionID("a1"))
	if o, err := g.Check(t.Context(), v); err != nil || len(o.Blocked) != 0 {
		t.Errorf("%+v %v", o, err)
	}
}
