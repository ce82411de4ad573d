package server_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/server/internal/servertest"
)

// TestRandomAccess compares the requests of a transcript with those that its seed makes: random roles, bindings and requests. See checkRandom.
func TestRandomAccess(t *testing.T) {
	checkRandom(t, "testdata/transcripts/rbac_random.txt", randomAccess(rand.New(rand.NewPCG(32, 1))))
}

// checkRandom compares the requests of a transcript with the blocks that its seed makes. With DEED_PEER it writes them; TestTranscripts then
// records the answers of a kube-apiserver whose store is new.
func checkRandom(t *testing.T, file string, blocks []string) {
	if os.Getenv("DEED_PEER") != "" {
		if err := os.WriteFile(file, []byte(strings.Join(blocks, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	recorded := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	for i, block := range recorded {
		recorded[i], _, _ = strings.Cut(block, "\n> ")
	}
	if !slices.Equal(recorded, blocks) {
		t.Error("the requests of the transcript are not those of the seed")
	}
}

// Parts of random rules and requests. Few of each, so that many requests meet a rule.
var (
	accessVerbs      = []string{"get", "list", "update", "delete", "*"}
	accessGroups     = []string{"", "apps", "*"}
	accessResources  = []string{"pods", "configmaps", "pods/log", "pods/status", "deployments", "deployments/scale", "*/status", "*/scale", "*"}
	accessNames      = []string{"a", "b", "c"}
	accessRuleNames  = []string{"a", "b", "c", "", "*"} // a rule takes them as they are
	accessPaths      = []string{"/logs", "/logs/*", "/metrics", "/x/*", "*"}
	accessNamespaces = []string{"default", "kube-public", "kube-system"}
	accessUsers      = []string{"u0", "u1", "u2", "u3", "system:serviceaccount:default:s", "system:serviceaccount:kube-public:s"}
	accessTeams      = []string{"g0", "g1", "g2"}
)

// accessMaker makes random roles, bindings and requests.
type accessMaker struct{ *rand.Rand }

// randomAccess returns the blocks of a transcript: objects, a pause, and requests.
func randomAccess(r *rand.Rand) []string {
	m := accessMaker{r}
	blocks := []string{"# Random roles, bindings and requests: see TestRandomAccess."}
	const path, header = "/apis/rbac.authorization.k8s.io/v1/", servertest.JSON
	for i := range 24 {
		blocks = append(blocks, "POST "+path+"clusterroles"+header+"\n< "+text(named(fmt.Sprint("r-", i), "rules", m.rules(true))))
	}
	for i := range 18 {
		at := path + "namespaces/" + m.pick(accessNamespaces) + "/roles"
		blocks = append(blocks, "POST "+at+header+"\n< "+text(named(fmt.Sprint("r-", i), "rules", m.rules(false))))
	}
	for i := range 16 {
		blocks = append(blocks, "POST "+path+"clusterrolebindings"+header+"\n< "+text(m.binding(fmt.Sprint("r-", i), false)))
	}
	for i := range 40 {
		at := path + "namespaces/" + m.pick(accessNamespaces) + "/rolebindings"
		blocks = append(blocks, "POST "+at+header+"\n< "+text(m.binding(fmt.Sprint("r-", i), true)))
	}
	blocks = append(blocks, "SLEEP 2s")
	for range 260 {
		blocks = append(blocks, "POST /apis/authorization.k8s.io/v1/subjectaccessreviews"+header+"\n< "+text(m.review()))
	}
	for range 90 {
		resource := m.pick([]string{"pods", "configmaps", "pods/log", "secrets"})
		resource, sub, _ := strings.Cut(resource, "/")
		name := m.pick(accessNames)
		if sub != "" {
			name += "/" + sub
		}
		verb := "GET"
		if sub == "" && m.IntN(3) == 0 {
			verb = "DELETE"
		}
		blocks = append(blocks, verb+" /api/v1/namespaces/"+m.pick(accessNamespaces)+"/"+resource+"/"+name+m.as())
	}
	// Writers of roles have the right to write them, and little else.
	granting := `{"apiGroups":["rbac.authorization.k8s.io"],"resources":["roles","rolebindings","clusterroles","clusterrolebindings"],"verbs":["create"]}`
	blocks = append(blocks, "POST "+path+"clusterroles"+header+"\n< "+`{"metadata":{"name":"r-granting"},"rules":[`+granting+`]}`)
	blocks = append(blocks, "POST "+path+"clusterrolebindings"+header+"\n< "+text(map[string]any{
		"metadata": map[string]any{"name": "r-granting"}, "roleRef": m.ref("ClusterRole", "r-granting"),
		"subjects": []any{map[string]any{"kind": "Group", "name": "system:authenticated"}},
	}), "SLEEP 2s")
	for range 120 {
		at, body := "clusterroles", any(named("r-new", "rules", m.rules(true)))
		switch m.IntN(4) {
		case 0:
			at, body = "namespaces/"+m.pick(accessNamespaces)+"/roles", named("r-new", "rules", m.rules(false))
		case 1:
			at, body = "clusterrolebindings", m.binding("r-new", false)
		case 2:
			at, body = "namespaces/"+m.pick(accessNamespaces)+"/rolebindings", m.binding("r-new", true)
		}
		blocks = append(blocks, "POST "+path+at+"?dryRun=All"+header+m.as()+"\n< "+text(body))
	}
	for _, user := range accessUsers {
		for _, namespace := range accessNamespaces {
			blocks = append(blocks, "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews"+header+" Impersonate-User="+user+
				"\n< "+`{"spec":{"namespace":"`+namespace+`"}}`)
		}
	}
	return blocks
}

// text returns a document as JSON.
func text(document any) string {
	b, err := json.Marshal(document)
	if err != nil {
		panic(err) // it is made of maps and strings
	}
	return string(b)
}

// named returns an object with a name and one more member.
func named(name, member string, of any) map[string]any {
	return map[string]any{"metadata": map[string]any{"name": name}, member: of}
}

func (m accessMaker) pick(from []string) string { return from[m.IntN(len(from))] }

// some returns between one and n different items.
func (m accessMaker) some(from []string, n int) []string {
	out := slices.Clone(from)
	m.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out[:1+m.IntN(n)]
}

// rules returns rules, of which a few are about paths where the role may have them.
func (m accessMaker) rules(paths bool) []any {
	out := []any{}
	for range m.IntN(3) + 1 {
		if paths && m.IntN(4) == 0 {
			out = append(out, map[string]any{"nonResourceURLs": m.some(accessPaths, 2), "verbs": m.some(accessVerbs, 2)})
			continue
		}
		rule := map[string]any{"apiGroups": m.some(accessGroups, 2), "resources": m.some(accessResources, 3), "verbs": m.some(accessVerbs, 3)}
		if m.IntN(3) == 0 {
			rule["resourceNames"] = m.some(accessRuleNames, 3)
		}
		out = append(out, rule)
	}
	return out
}

func (m accessMaker) ref(kind, name string) map[string]any {
	return map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
}

// binding returns a binding of a role, which in a few cases does not exist.
func (m accessMaker) binding(name string, namespaced bool) map[string]any {
	ref := m.ref("ClusterRole", fmt.Sprint("r-", m.IntN(24)))
	if namespaced && m.IntN(2) == 0 {
		ref = m.ref("Role", fmt.Sprint("r-", m.IntN(18)))
	} else if m.IntN(8) == 0 {
		ref = m.ref("ClusterRole", "r-missing")
	}
	subjects := []any{}
	for range m.IntN(3) {
		switch m.IntN(3) {
		case 0:
			subjects = append(subjects, map[string]any{"kind": "User", "name": m.pick(accessUsers)})
		case 1:
			subjects = append(subjects, map[string]any{"kind": "Group", "name": m.pick(accessTeams)})
		default:
			s := map[string]any{"kind": "ServiceAccount", "name": "s"}
			if !namespaced || m.IntN(2) == 0 {
				s["namespace"] = m.pick(accessNamespaces)
			}
			subjects = append(subjects, s)
		}
	}
	return map[string]any{"metadata": map[string]any{"name": name}, "roleRef": ref, "subjects": subjects}
}

// review returns a SubjectAccessReview.
func (m accessMaker) review() map[string]any {
	spec := map[string]any{"user": m.pick(accessUsers)}
	if m.IntN(2) == 0 {
		spec["groups"] = m.some(accessTeams, 2)
	}
	if m.IntN(6) == 0 {
		spec["nonResourceAttributes"] = map[string]any{"verb": m.pick(accessVerbs), "path": m.pick([]string{"/logs", "/logs/a", "/x", "/x/y", "/metrics"})}
		return map[string]any{"spec": spec}
	}
	resource, sub, _ := strings.Cut(m.pick(accessResources), "/")
	of := map[string]any{"verb": m.pick(accessVerbs), "group": m.pick(accessGroups), "resource": resource}
	if sub != "" {
		of["subresource"] = sub
	}
	if m.IntN(3) > 0 {
		of["namespace"] = m.pick(accessNamespaces)
	}
	if m.IntN(2) == 0 {
		of["name"] = m.pick(accessRuleNames)
	}
	spec["resourceAttributes"] = of
	return map[string]any{"spec": spec}
}

// as returns headers of a request of a random user.
func (m accessMaker) as() string {
	out := " Impersonate-User=" + m.pick(accessUsers)
	if m.IntN(2) == 0 {
		out += " Impersonate-Group=" + m.pick(accessTeams)
	}
	return out
}
