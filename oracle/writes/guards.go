package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"

	"github.com/deed-project/deed/oracle/pair"
)

// guarded returns the labels of a namespace that has random Pod Security levels.
func guarded(r *rand.Rand) map[string]any {
	labels := map[string]any{}
	for _, mode := range [...]string{"enforce", "warn", "audit"} {
		if r.IntN(4) == 0 {
			continue
		}
		label := "pod-security.kubernetes.io/" + mode
		labels[label] = [...]string{"privileged", "baseline", "baseline", "restricted"}[r.IntN(4)]
		if r.IntN(3) == 0 {
			labels[label+"-version"] = [...]string{"latest", "v1.20", "v1.24", "v1.30", "v1.37"}[r.IntN(5)]
		}
	}
	return labels
}

// limits returns a random LimitRange.
func limits(r *rand.Rand) map[string]any {
	amounts := func(cpu, memory string) map[string]any {
		out := map[string]any{}
		if r.IntN(4) > 0 {
			out["cpu"] = cpu
		}
		if r.IntN(4) > 0 {
			out["memory"] = memory
		}
		return out
	}
	container := map[string]any{"type": "Container"}
	container["min"], container["max"] = amounts("10m", "1Mi"), amounts("2", "2Gi")
	container["defaultRequest"], container["default"] = amounts("100m", "64Mi"), amounts("500m", "256Mi")
	container["maxLimitRequestRatio"] = amounts("10", "8")
	list := []any{container}
	if r.IntN(2) == 0 {
		list = append(list, map[string]any{"type": "Pod", "max": amounts("3", "3Gi"), "min": amounts("20m", "2Mi")})
	}
	if r.IntN(2) == 0 {
		list = append(list, map[string]any{"type": "PersistentVolumeClaim", "max": map[string]any{"storage": "1Gi"}, "min": map[string]any{"storage": "2"}})
	}
	metadata := map[string]any{"name": "limits"}
	return map[string]any{"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": map[string]any{"limits": list}}
}

// guard gives the namespaces of the kinds Pod Security levels and LimitRanges, which depend on the seed.
func (c *campaign) guard(kinds []*kind) error {
	for i, k := range kinds {
		if !strings.HasPrefix(k.namespace, "writes-") {
			continue
		}
		r := rand.New(rand.NewPCG(c.seed, uint64(i)))
		namespace := "/api/v1/namespaces/" + k.namespace
		labels := map[string]any{"metadata": map[string]any{"labels": guarded(r)}}
		for _, q := range [...]pair.Request{
			{Method: http.MethodPatch, Path: namespace, ContentType: mergePatch, Body: labels},
			{Method: http.MethodPost, Path: namespace + "/limitranges", Body: limits(r)},
		} {
			there, here, err := c.both(q)
			if err != nil {
				return err
			}
			if there.answer.Code >= 400 && there.answer.Code != http.StatusUnprocessableEntity || there.answer.Code != here.answer.Code {
				return fmt.Errorf("%s: %s there, %s here", q.Path, there.answer, here.answer)
			}
		}
	}
	return nil
}
