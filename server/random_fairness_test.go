package server_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
)

// TestRandomFairness compares the requests of a transcript with those that its seed makes: random FlowSchemas, priority levels, and requests
// of random users. See checkRandom.
func TestRandomFairness(t *testing.T) {
	checkRandom(t, "testdata/transcripts/fairness_random.txt", randomFairness(rand.New(rand.NewPCG(31, 1))))
}

// Parts of random rules and requests. Few of each, so that many requests meet a rule.
var (
	fairVerbs      = []string{"get", "list", "watch", "create", "update", "delete", "deletecollection", "patch"}
	fairGroups     = []string{"", "apps", "coordination.k8s.io", "none.example.org"}
	fairResources  = []string{"pods", "configmaps", "pods/log", "pods/status", "deployments", "deployments/scale", "nodes", "namespaces", "namespaces/status", "leases"}
	fairNamespaces = []string{"default", "kube-public", "kube-system"}
	fairPaths      = []string{"/healthz", "/healthz/*", "/healthz/ping", "/apis/apps", "/apis/*", "/apis/apps/*", "/x", "/x/*", "/x/y", "/"}
	fairUsers      = []string{"u0", "u1", "u2", "system:serviceaccount:default:s", "system:serviceaccount:kube-public:s", "system:serviceaccount:kube-system:s",
		"system:kube-scheduler", "system:anonymous"}
	fairTeams  = []string{"g0", "g1", "system:nodes", "system:authenticated", "system:unauthenticated", "system:masters"}
	fairLevels = []string{"system", "workload-low", "exempt", "catch-all", "l-0", "l-1", "l-2"} // the last one does not exist
)

// fairnessMaker makes random FlowSchemas and requests.
type fairnessMaker struct{ accessMaker }

// randomFairness returns the blocks of a transcript: objects, a pause, and requests, three times.
func randomFairness(r *rand.Rand) []string {
	m := fairnessMaker{accessMaker{r}}
	const path = "/apis/flowcontrol.apiserver.k8s.io/v1/"
	blocks := []string{"# Random FlowSchemas and requests: see TestRandomFairness."}
	for i := range 2 {
		blocks = append(blocks, "POST "+path+"prioritylevelconfigurations"+servertest.JSON+"\n< "+text(named(fmt.Sprint("l-", i), "spec",
			map[string]any{"type": "Limited", "limited": map[string]any{"limitResponse": map[string]any{"type": "Reject"}}})))
	}
	for round := range 3 {
		for i := range 12 {
			name := fmt.Sprintf("f-%d-%02d", round, i)
			blocks = append(blocks, "POST "+path+"flowschemas"+servertest.JSON+"\n< "+text(named(name, "spec", m.schema())))
		}
		if round > 0 {
			for i := range 8 {
				blocks = append(blocks, fmt.Sprintf("DELETE %sflowschemas/f-%d-%02d Accept=application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", path, round-1, i))
			}
		}
		blocks = append(blocks, "SLEEP 2s")
		for range 110 {
			blocks = append(blocks, m.request())
		}
	}
	return blocks
}

// schema returns the spec of a FlowSchema. A few have the same precedence.
func (m fairnessMaker) schema() map[string]any {
	rules := []any{}
	for range m.IntN(2) + 1 {
		rules = append(rules, m.rule())
	}
	return map[string]any{
		"priorityLevelConfiguration": map[string]any{"name": m.pick(fairLevels)}, "matchingPrecedence": 2 + m.IntN(40)*25, "rules": rules,
	}
}

// rule returns a rule of a FlowSchema.
func (m fairnessMaker) rule() map[string]any {
	subjects := []any{}
	for range m.IntN(2) + 1 {
		subjects = append(subjects, m.subject())
	}
	rule := map[string]any{"subjects": subjects}
	if m.IntN(3) > 0 {
		of := map[string]any{"verbs": m.someOrAll(fairVerbs, 5), "apiGroups": m.someOrAll(fairGroups, 2), "resources": m.someOrAll(fairResources, 6)}
		inCluster := m.IntN(3)
		if inCluster > 0 {
			of["clusterScope"] = true
		}
		if inCluster < 2 {
			of["namespaces"] = m.someOrAll(fairNamespaces, 2)
		}
		rule["resourceRules"] = []any{of}
	}
	if rule["resourceRules"] == nil || m.IntN(2) == 0 {
		rule["nonResourceRules"] = []any{map[string]any{"verbs": m.someOrAll(fairVerbs, 6), "nonResourceURLs": m.someOrAll(fairPaths, 3)}}
	}
	return rule
}

// someOrAll returns between one and n different items, or the wildcard.
func (m fairnessMaker) someOrAll(from []string, n int) []string {
	if m.IntN(3) == 0 {
		return []string{"*"}
	}
	return m.some(from, n)
}

func (m fairnessMaker) subject() map[string]any {
	orAll := func(from []string) string {
		if m.IntN(5) == 0 {
			return "*"
		}
		return m.pick(from)
	}
	switch m.IntN(3) {
	case 0:
		return map[string]any{"kind": "User", "user": map[string]any{"name": orAll(fairUsers)}}
	case 1:
		return map[string]any{"kind": "Group", "group": map[string]any{"name": orAll(fairTeams)}}
	}
	return map[string]any{"kind": "ServiceAccount", "serviceAccount": map[string]any{"namespace": m.pick(fairNamespaces), "name": orAll([]string{"s", "t"})}}
}

// request returns a request of a random user. Most are answered with 404, since the flow is what counts.
func (m fairnessMaker) request() string {
	as := " Impersonate-User=" + m.pick(fairUsers)
	if m.IntN(2) == 0 {
		as += " Impersonate-Group=" + m.pick(fairTeams)
	}
	if m.IntN(3) == 0 {
		path := m.pick([]string{"/healthz", "/healthz/ping", "/healthz/nope", "/apis/apps", "/apis/apps/", "/apis/batch", "/x", "/x/y", "/x/", "/y"})
		return m.pick([]string{"GET", "GET", "GET", "POST"}) + " " + path + as
	}
	resource := m.pick([]string{"pods", "configmaps", "deployments", "leases"})
	at := map[string]string{"deployments": "/apis/apps/v1", "leases": "/apis/coordination.k8s.io/v1"}[resource]
	if at == "" {
		at = "/api/v1"
	}
	if m.IntN(5) > 0 {
		at += "/namespaces/" + m.pick(fairNamespaces)
	} else if m.IntN(2) == 0 {
		at, resource = "/api/v1", m.pick([]string{"nodes", "namespaces"})
	}
	at += "/" + resource
	if m.IntN(4) == 0 && !strings.HasSuffix(at, "nodes") {
		return "GET " + at + m.pick([]string{"?labelSelector=none", "?labelSelector=none&watch=1&timeoutSeconds=1"}) + as
	}
	at += "/n"
	switch m.IntN(5) {
	case 0:
		at += "/" + map[string]string{"pods": "status", "deployments": "scale", "namespaces": "status"}[resource]
	case 1:
		return "PATCH " + strings.TrimSuffix(at, "/") + servertest.MergePatch + as + "\n< {}"
	case 2:
		return "DELETE " + at + as
	case 3:
		return "PUT " + at + servertest.JSON + as + "\n< {}"
	}
	return "GET " + strings.TrimSuffix(at, "/") + as
}
