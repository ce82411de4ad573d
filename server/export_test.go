package server

import (
	"slices"

	"github.com/deed-project/deed/server/registry/unenforced"
)

// WarningsOfBoth returns warnings without those that only this server gives: see docs/divergences.md.
func WarningsOfBoth(warnings []string) []string {
	return slices.DeleteFunc(slices.Clone(warnings), func(warning string) bool {
		return slices.ContainsFunc(unenforced.Without().Names(), func(kind string) bool {
			return warning == `299 - "this server stores `+kind+` but does not enforce them"`
		})
	})
}
