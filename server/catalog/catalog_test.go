package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/server/structural/scale"
	"github.com/deed-project/deed/value"
)

// resource returns a resource called group/plural with the given versions. The first version is the stored one.
func resource(name string, versions ...string) *Resource {
	group, plural, _ := strings.Cut(name, "/")
	r := &Resource{
		Group: group, Plural: plural, Singular: strings.TrimSuffix(plural, "s"), Kind: strings.ToUpper(plural[:1]) + strings.TrimSuffix(plural[1:], "s"),
		Prefix: "/registry/" + plural + "/", Verbs: []string{"get", "list"}, Stored: versions[0], Order: versions,
	}
	for _, v := range versions {
		r.Versions = append(r.Versions, &Version{Resource: r, Name: v})
	}
	SortVersions(r.Versions)
	return r
}

// named returns the names of versions.
func named(versions []*Version) string {
	var out []string
	for _, v := range versions {
		out = append(out, v.Group+"/"+v.Name+"/"+v.Plural)
	}
	return strings.Join(out, " ")
}

// TestCatalog tests the lookups of a catalog.
func TestCatalog(t *testing.T) {
	custom, mixed := resource("b.io/things", "v1"), resource("policy/others", "v1")
	custom.Custom, mixed.Custom = true, true
	old, events, pods := resource("/pods", "v0"), resource("/events", "v1"), resource("/pods", "v1")
	budgets := resource("policy/budgets", "v1beta1", "v10", "v2")
	all := []*Resource{
		old, custom, resource("a.io/things", "v1alpha1", "v1"), pods, mixed, budgets, events, resource("events.k8s.io/events", "v1", "v1beta1"),
		resource("apps/sets", "v1"), resource("a.io/zebras", "v2"),
	}
	c := New(all...)
	if got := c.Lookup("", "pods"); got != pods {
		t.Errorf("of two resources of one name, %v counts", got)
	}
	if c.Lookup("", "sets") != nil || c.Lookup("apps", "sets") == nil {
		t.Error("a resource is found in another group, or not in its own")
	}
	var names []string
	for r := range c.All() {
		names = append(names, r.GroupResource().String()+" "+r.GroupKind().String())
	}
	if want := "events Event, pods Pod, things.a.io Thing.a.io, zebras.a.io Zebra.a.io, sets.apps Set.apps, things.b.io Thing.b.io, " +
		"events.events.k8s.io Event.events.k8s.io, budgets.policy Budget.policy, others.policy Other.policy"; strings.Join(names, ", ") != want {
		t.Errorf("all are %s", strings.Join(names, ", "))
	}
	want := "[{ [v1] false 18000} {apps [v1] false 17800} {events.k8s.io [v1beta1 v1] false 17750} {policy [v10 v2 v1beta1 v1] false 17100} " +
		"{a.io [v2 v1 v1alpha1] false 1000} {b.io [v1] true 1000}]"
	if got := fmt.Sprint(c.Groups()); got != want {
		t.Errorf("the groups are %s, want %s", got, want)
	}
	if g, ok := c.Group("policy"); !ok || g.Name != "policy" || len(g.Versions) != 4 {
		t.Errorf("the group policy is %v, %t", g, ok)
	}
	for _, name := range []string{"polic", "policy.io", "z"} {
		if g, ok := c.Group(name); ok {
			t.Errorf("there is a group %s: %v", name, g)
		}
	}
	if got := named(slices.Collect(c.In("policy", "v1"))); got != "policy/v1/others" {
		t.Errorf("policy/v1 has %s", got)
	}
	for range c.In("", "v1") {
		break // All must allow an early end
	}
	for _, at := range []struct {
		of   *Resource
		want string
	}{
		{events, "/v1/events events.k8s.io/v1/events events.k8s.io/v1beta1/events"},
		{c.Lookup("events.k8s.io", "events"), "events.k8s.io/v1/events events.k8s.io/v1beta1/events /v1/events"},
		{budgets, "policy/v1beta1/budgets policy/v10/budgets policy/v2/budgets"},
		{resource("d.io/anew", "v1"), "d.io/v1/anew"},
	} {
		if got := named(c.SharingStorage(at.of)); got != at.want {
			t.Errorf("alike are %s, want %s", got, at.want)
		}
	}
	if got := strings.Join(c.VersionNames(), " "); got != "a.io/v1 a.io/v1alpha1 a.io/v2 apps/v1 b.io/v1 events.k8s.io/v1 events.k8s.io/v1beta1 "+
		"policy/v1 policy/v10 policy/v1beta1 policy/v2 v1" {
		t.Errorf("the versions are %s", got)
	}
	other := New(append(all, resource("b.io/news", "v1"))...)
	if !c.Shares(other, "policy") || c.Shares(other, "b.io") || !c.Shares(other, "none") {
		t.Error("catalogs share another group than that in which they are the same")
	}
}

// TestResource tests keys, versions and endpoints of resources.
func TestResource(t *testing.T) {
	r := resource("g.io/things", "v1", "v2beta1")
	if r.Key("n", "a") != "/registry/things/a" || r.KeyPrefix("n") != "/registry/things/" {
		t.Errorf("the key of an object of the cluster is %s", r.Key("n", "a"))
	}
	r.Namespaced = true
	if r.Key("n", "a") != "/registry/things/n/a" || r.KeyPrefix("") != "/registry/things/" {
		t.Errorf("the key of an object in a namespace is %s", r.Key("n", "a"))
	}
	r.Order = []string{"v3", "v2beta1", "v1"}
	if got := named(r.Declared()); got != "g.io/v2beta1/things g.io/v1/things" {
		t.Errorf("declared are %s", got)
	}
	if r.Order = nil; named(r.Declared()) != "g.io/v1/things g.io/v2beta1/things" || r.Version("v3") != nil || r.Version("v2beta1").Name != "v2beta1" {
		t.Errorf("without an order declared are %s", named(r.Declared()))
	}
	read := &Connection{}
	v := r.Version("v1")
	v.Parts, v.Actions = map[string]Manager{"resize": StaticManager(nil)}, map[string]*Version{"exec": {Connection: read}, "binding": {}}
	for name, want := range map[string]bool{"": true, "status": false, "scale": false, "finalize": false, "resize": true, "exec": true, "log": false} {
		if v.HasSubresource(name) != want {
			t.Errorf("it has the subresource %q: %t", name, !want)
		}
	}
	v.Status, v.Finalize, v.Scale = StaticManager(nil), StaticManager(nil), &Scale{}
	if !v.HasSubresource("status") || !v.HasSubresource("finalize") || !v.HasSubresource("scale") {
		t.Error("it lacks a subresource")
	}
	if v.Connects("exec") != read || v.Connects("binding") != nil || v.Connects("resize") != nil {
		t.Error("the connection is another one")
	}
}

// TestDiscovery prints discovery documents. The hashes are those of a kube-apiserver.
func TestDiscovery(t *testing.T) {
	pods, reviews, deployments := resource("/pods", "v1"), resource("apps/reviews", "v1"), resource("apps/deployments", "v1")
	pods.Namespaced, pods.ShortNames, pods.Categories = true, []string{"po"}, []string{"all"}
	reviews.Verbs = []string{"create"}
	v := pods.Versions[0]
	eviction := &Version{Resource: &Resource{Group: "policy", Kind: "Eviction", Verbs: []string{"create"}}, Name: "v1"}
	v.Status, v.Finalize, v.Scale = StaticManager(nil), StaticManager(nil), &Scale{}
	v.Parts, v.Actions = map[string]Manager{"resize": StaticManager(&managedfields.FieldManager{})}, map[string]*Version{"eviction": eviction}
	deployments.Hashed = "apps/v1"
	c := New(pods, reviews, deployments)
	var got []string
	for _, r := range append(c.APIResources("apps", "v1").APIResources, c.APIResources("", "v1").APIResources...) {
		got = append(got, fmt.Sprint(r.Name, " ", r.SingularName, " ", r.Namespaced, " ", r.Group, "/", r.Version, " ", r.Kind, " ", r.Verbs, r.ShortNames, r.Categories, " ", r.StorageVersionHash))
	}
	want := []string{
		"deployments deployment false / Deployment [get list] [] [] 8aSe+NMegvE=", "reviews review false / Review [create] [] [] ",
		"pods pod true / Pod [get list] [po] [all] xPOwRZ+Yhw8=",
		"pods/eviction  true policy/v1 Eviction [create] [] [] ", "pods/finalize  true / Pod [update] [] [] ", "pods/resize  true / Pod [get patch update] [] [] ",
		"pods/scale  true autoscaling/v1 Scale [get patch update] [] [] ", "pods/status  true / Pod [get patch update] [] [] ",
	}
	if !slices.Equal(got, want) {
		t.Errorf("discovery says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if version := c.APIResources("apps", "v1").GroupVersion + " " + c.APIResources("", "v1").GroupVersion; version != "apps/v1 v1" {
		t.Errorf("the versions are %s", version)
	}
	if none := c.APIResources("apps", "v2").APIResources; none == nil || len(none) > 0 {
		t.Errorf("a version that is not served has %v", none)
	}
	text, err := json.Marshal([]any{c.Aggregated(true), c.Aggregated(false), c.Groups()[1].APIGroup()})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{
		`[{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","metadata":{},"items":[{"metadata":{},"versions":[{"version":"v1","resources":[` +
			`{"resource":"pods","responseKind":{"group":"","version":"","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get","list"],"shortNames":["po"],"categories":["all"],"subresources":[` +
			`{"subresource":"eviction","responseKind":{"group":"policy","version":"v1","kind":"Eviction"},"verbs":["create"]},`,
		`{"subresource":"status","responseKind":{"group":"","version":"","kind":"Pod"},"verbs":["get","patch","update"]}]}],"freshness":"Current"}]}]},`,
		`"items":[{"metadata":{"name":"apps"},"versions":[{"version":"v1","resources":[{"resource":"deployments",`, `"kind":"Deployment"},"scope":"Cluster"`,
		`{"name":"apps","versions":[{"groupVersion":"apps/v1","version":"v1"}],"preferredVersion":{"groupVersion":"apps/v1","version":"v1"}}]`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("discovery lacks\n%s\nin\n%s", part, text)
		}
	}
	deployments.Custom, reviews.Custom = true, true
	if kind := c.Aggregated(false).Items[0].Versions[0].Resources[0].ResponseKind.String(); kind != "apps/v1, Kind=Deployment" {
		t.Errorf("a custom resource answers with %s", kind)
	}
}

// TestScale converts objects to Scales and back.
func TestScale(t *testing.T) {
	s := &Scale{Paths: scale.Paths{Spec: ".spec.replicas", Status: ".status.replicas", Selector: ".status.selector"}}
	for _, c := range []struct{ object, scale, wrong string }{
		{`{"metadata":{"name":"a","namespace":"n","uid":"u","resourceVersion":"1","creationTimestamp":"t","labels":{}},"spec":{"replicas":2},"status":{"replicas":1,"selector":"a=b"}}`,
			`true {"creationTimestamp":"t","name":"a","namespace":"n","resourceVersion":"1","uid":"u"} {"replicas":2} {"replicas":1,"selector":"a=b"}`, ""},
		{`{}`, `false {} {} {"replicas":0}`, ""},
		{`{"spec":null,"status":{"replicas":0}}`, `false {} {} {"replicas":0}`, ""},
		{`{"spec":{"replicas":-1},"status":{"replicas":2147483647}}`, `true {} {"replicas":-1} {"replicas":2147483647}`,
			`.spec.replicas: Invalid value: -1: should be a non-negative integer`},
		{`{"spec":{"replicas":2147483648}}`, `true {} {"replicas":2147483648} {"replicas":0}`, `.spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647`},
		{`{"spec":{"replicas":"2"}}`, `.spec.replicas accessor error: 2 is of the type string, expected int64`,
			`.spec.replicas: Invalid value: 0: .spec.replicas accessor error: 2 is of the type string, expected int64`},
		{`{"spec":[]}`, `.spec.replicas accessor error: [] is of the type []interface {}, expected map[string]interface{}`,
			`.spec.replicas: Invalid value: 0: .spec.replicas accessor error: [] is of the type []interface {}, expected map[string]interface{}`},
		{`{"status":{"replicas":1.5}}`, `.status.replicas accessor error: 1.5 is of the type float64, expected int64`,
			`.status.replicas: Invalid value: 0: .status.replicas accessor error: 1.5 is of the type float64, expected int64`},
		{`{"status":{"selector":1}}`, `.status.selector accessor error: 1 is of the type int64, expected string`,
			`.status.selector: Invalid value: "": .status.selector accessor error: 1 is of the type int64, expected string`},
	} {
		object, err := value.Parse([]byte(c.object))
		if err != nil {
			t.Fatal(err)
		}
		scale, wanted, err := s.Of(object)
		got := fmt.Sprint(wanted, " ", scale.Get("metadata"), " ", scale.Get("spec"), " ", scale.Get("status"))
		if err != nil {
			got = err.Error()
		}
		if got != c.scale || err == nil && (scale.Get("apiVersion").Str() != "autoscaling/v1" || scale.Get("kind").Str() != "Scale") {
			t.Errorf("the Scale of %s is %s, want %s", c.object, got, c.scale)
		}
		if errs := fmt.Sprint(s.Validate(object).ToAggregate()); errs != c.wrong && (c.wrong != "" || errs != "<nil>") {
			t.Errorf("wrong with %s is %s, want %s", c.object, errs, c.wrong)
		}
		if none := (*Scale)(nil); none.Validate(object) != nil || none.ValidateStatus(object) != nil {
			t.Error("without a Scale something is wrong")
		}
	}
	object, err := value.Parse([]byte(`{"spec":{"a":1}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := s.WithReplicas(object, 3); err != nil || got.String() != `{"spec":{"a":1,"replicas":3}}` {
		t.Errorf("with three replicas it is %s: %v", got, err)
	}
	if got := Lookup(object, "spec.a").Int(); got != 1 {
		t.Errorf("at spec.a is %d", got)
	}
	if got := ScalePath(".spec.replicas").String(); got != ".spec.replicas" {
		t.Errorf("the path is %s", got)
	}
	s = &Scale{Paths: scale.Paths{Spec: ".spec.a", Status: ".x"}, SelectorOf: func(object value.Value) (string, error) { return "of " + object.Get("spec").String(), nil }}
	if scale, _, err := s.Of(object); err != nil || scale.Get("status").String() != `{"replicas":0,"selector":"of {\"a\":1}"}` {
		t.Errorf("with a selector that is made of it, it is %v: %v", scale, err)
	}
	if errs := s.Validate(object); len(errs) > 0 {
		t.Errorf("without a path to a selector, wrong is %v", errs)
	}
}
