// Package replays makes random histories in the form that deed replay reads, for tests that compare two programs. It is for tests only.
package replays

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Deployment returns a history of random writes of few managers to a Deployment: applies, with and without force, and updates, some of them
// through subresources. Some writes conflict, and some drop fields of an earlier write of the same manager. The same r gives the same history.
func Deployment(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("steps:\n")
	for step := range 3 + r.IntN(6) {
		manager := []string{"ci", "ops", "kubectl"}[r.IntN(3)]
		if step > 0 && r.IntN(3) == 0 {
			fmt.Fprintf(&b, "- manager: autoscaler\n  operation: update\n  patch: {spec: {replicas: %d}, metadata: {labels: {tier: %s}}}\n",
				r.IntN(5), []string{"front", "back", "null"}[r.IntN(3)])
			continue
		}
		if step > 0 && r.IntN(4) == 0 {
			through(&b, r, manager)
			continue
		}
		fmt.Fprintf(&b, "- manager: %s\n  force: %t\n  object:\n", manager, r.IntN(3) == 0)
		b.WriteString("    apiVersion: apps/v1\n    kind: Deployment\n    metadata:\n      name: web\n      namespace: shop\n")
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "      labels: {team: %s}\n", []string{"shop", "core"}[r.IntN(2)])
		}
		b.WriteString("    spec:\n")
		for _, field := range []string{"replicas", "minReadySeconds", "revisionHistoryLimit"} {
			if r.IntN(2) == 0 {
				fmt.Fprintf(&b, "      %s: %d\n", field, r.IntN(4))
			}
		}
		b.WriteString("      selector: {matchLabels: {app: web}}\n      template:\n        metadata: {labels: {app: web}}\n        spec:\n          containers:\n")
		for _, name := range []string{"web", "side"} {
			if name == "web" || r.IntN(2) == 0 {
				fmt.Fprintf(&b, "          - {name: %s, image: \"%s:%d\"}\n", name, name, r.IntN(3))
			}
		}
	}
	return b.String()
}

// through writes a step of manager through a subresource. It also sends fields that the subresource does not write.
func through(b *strings.Builder, r *rand.Rand, manager string) {
	fields, subresource := fmt.Sprintf("spec: {replicas: %d, paused: true}", r.IntN(5)), "scale"
	if r.IntN(2) == 0 {
		fields, subresource = fmt.Sprintf("spec: {replicas: 9}, status: {replicas: %d}", r.IntN(5)), "status"
	}
	fmt.Fprintf(b, "- manager: %s\n  subresource: %s\n", manager, subresource)
	if r.IntN(2) == 0 {
		fmt.Fprintf(b, "  operation: update\n  patch: {%s}\n", fields)
		return
	}
	fmt.Fprintf(b, "  force: %t\n  object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, %s}\n",
		r.IntN(2) == 0, fields)
}
