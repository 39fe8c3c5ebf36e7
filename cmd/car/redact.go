package main

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"car/internal/engine/redact"
)

func newRedactCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "redact",
		Short:   "Pass stdin on with secrets masked",
		Long:    "Masks what car itself would mask in a command's output: values of secret-looking names,\nkeys of known shapes, tokens, private keys, and the secrets of this environment.",
		Example: "  env | car redact",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withHouse(cmd.Context(), houseOptions{quiet: true}, func(h *house) error {
				masked := redact.New(h.secrets()).Writer(cmd.OutOrStdout())
				_, err := io.Copy(masked, a.io.in)
				return errors.Join(err, masked.Close())
			})
		},
	}
}
