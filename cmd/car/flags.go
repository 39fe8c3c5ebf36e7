package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"car/internal/engine/ir"
)

// tierFlag reads a tier word for a flag.
type tierFlag struct{ to *ir.Tier }

// String is the tier's word, empty for none.
func (f tierFlag) String() string {
	if f.to == nil || *f.to == ir.TierUnset {
		return ""
	}
	return f.to.String()
}

// Set reads the word.
func (f tierFlag) Set(word string) error { return f.to.UnmarshalText([]byte(word)) }

// Type names the value in help.
func (tierFlag) Type() string { return "tier" }

// bindHouse declares the flags of commands that work in a project.
func bindHouse(cmd *cobra.Command, o *houseOptions) {
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "the project's `folder` (default: the working directory)")
	f.StringVarP(&o.model, "model", "m", "", "`provider/model`, or scripted:FILE")
	f.Var(tierFlag{&o.tier}, "tier", "the authority of the run: sandbox_edit and full_access grant it, read_only allows nothing beyond it")
	f.BoolVarP(&o.full, "full-access", "y", false, "the same as --tier full_access; what policy denies stays denied")
	f.StringArrayVar(&o.allow, "allow", nil, "let commands that begin with these `words` run; may be repeated")
	f.Int64Var(&o.window, "context-window", 0, "the model's context window in `tokens`")
	f.StringVar(&o.spans, "spans", "", "add what ran, and how long it took, to this `file` as OTLP JSON lines")
	f.StringVar(&o.substrate, "substrate", "auto", "where commands run: `auto`, sandbox (held by the system, or not at all) or local (not held)")
	f.BoolVar(&o.local, "local", false, "the same as --substrate local")
	f.StringVar(&o.network, "network", "on", "off takes http_request, web_search, MCP over HTTP and, where they are confined, the network of commands away: `on|off`")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing on stderr but errors")
}

// settle brings flags that say the same together.
func (o *houseOptions) settle() error {
	if o.full && o.tier != ir.TierUnset && o.tier != ir.FullAccess {
		return usageError(errors.New("--full-access and --tier say two different things"))
	}
	if o.full {
		o.tier = ir.FullAccess
	}
	if o.network != "" && o.network != "on" && o.network != "off" {
		return usageError(fmt.Errorf("--network: %q is neither on nor off", o.network))
	}
	if o.local && o.substrate != "auto" && o.substrate != "local" {
		return usageError(errors.New("--local and --substrate say two different things"))
	}
	if o.local {
		o.substrate = "local"
	}
	if !slices.Contains([]string{"", "auto", "local", "sandbox"}, o.substrate) {
		return usageError(fmt.Errorf("--substrate: %q is none of auto, sandbox, local", o.substrate))
	}
	if o.window < 0 {
		return usageError(fmt.Errorf("--context-window: %d is not a number of tokens", o.window))
	}
	return nil
}

// understood holds what pflag and cobra let through: a flag that was given nothing,
// as `--until "$CHECK"` with an unset variable is, and a limit that limits nothing.
// Neither may mean the default, which would be a run without its check (P-GUARD-6).
// Flags that exclude each other are looked at here too, while that is still an
// error of usage.
func understood(cmd *cobra.Command) error {
	var errs []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		value := f.Value.String()
		switch n, err := strconv.ParseInt(value, 10, 64); {
		case strings.HasPrefix(f.Value.Type(), "int") && err == nil && n < 1:
			errs = append(errs, fmt.Errorf("--%s: %d is not a number of anything; leave the flag out for the default", f.Name, n))
		case f.Value.Type() == "string" && strings.TrimSpace(value) == "":
			errs = append(errs, fmt.Errorf("--%s is empty; leave the flag out, or give it a value", f.Name))
		}
	})
	if err := errors.Join(errs...); err != nil {
		return usageError(err, cmd.CommandPath()+" --help")
	}
	if err := cmd.ValidateFlagGroups(); err != nil {
		return usageError(err, cmd.CommandPath()+" --help")
	}
	return nil
}

// format is what stdout gets.
type format string

const (
	formatText   format = "text"
	formatJSON   format = "json"
	formatStream format = "stream-json"
)

// String is the word.
func (f *format) String() string { return string(*f) }

// Set takes one of the three words.
func (f *format) Set(word string) error {
	switch format(word) {
	case formatText, formatJSON, formatStream:
		*f = format(word)
		return nil
	}
	return fmt.Errorf("%q is not text, json or stream-json", word)
}

// Type names the value in help.
func (*format) Type() string { return "format" }

// jsonFlag is --json, a short way to say --output-format json.
type jsonFlag struct{ to *format }

// String is never shown.
func (jsonFlag) String() string { return "" }

// Set takes the flag; --json=false leaves text.
func (f jsonFlag) Set(word string) error {
	if word == "true" {
		*f.to = formatJSON
	}
	return nil
}

// Type is that of a flag without a value.
func (jsonFlag) Type() string { return "bool" }

// bindOutput declares the flags that say what stdout gets.
func bindOutput(cmd *cobra.Command, to *format) {
	*to = formatText
	f := cmd.Flags()
	f.Var(to, "output-format", "what stdout gets: text, json (one document) or stream-json (every event)")
	f.Var(jsonFlag{to}, "json", "the same as --output-format json")
	f.Lookup("json").NoOptDefVal = "true"
}
