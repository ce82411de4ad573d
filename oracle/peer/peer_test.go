package peer

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

var (
	configMap  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	service    = schema.GroupVersionKind{Version: "v1", Kind: "Service"}
	deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	widget     = schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Widget"}
)

func newPeer(t *testing.T, config Config) *Peer {
	t.Helper()
	p, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ok returns the object of an answer without an error.
func ok(t *testing.T, a Answer) []byte {
	t.Helper()
	if a.Err != nil {
		t.Fatal(a.Err)
	}
	return a.Object
}

const configMapText = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"k":"VALUE"}}`

func configMapOf(v string) []byte { return []byte(strings.Replace(configMapText, "VALUE", v, 1)) }

func TestConflictAndForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPeer(t, Config{GVK: configMap})
		live := ok(t, p.Apply(nil, configMapOf("1"), "alpha", false))
		const entry = `{"manager":"MANAGER","operation":"Apply","apiVersion":"v1","time":"2000-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}`

		refused := p.Apply(live, configMapOf("2"), "beta", false)
		const status = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Apply failed with 1 conflict: conflict with \"alpha\": .data.k","reason":"Conflict",` +
			`"details":{"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"alpha\"","field":".data.k"}]},"code":409}`
		if !refused.Conflict() || string(refused.Status) != status || refused.Object != nil {
			t.Errorf("conflict %t, object %s, status\n%s\nwant\n%s", refused.Conflict(), refused.Object, refused.Status, status)
		}

		forced := p.Apply(live, configMapOf("2"), "beta", true)
		if want := "[" + strings.Replace(entry, "MANAGER", "beta", 1) + "]"; string(forced.Entries) != want {
			t.Errorf("entries after force\n%s\nwant\n%s", forced.Entries, want)
		}
		if got := string(ok(t, forced)); !strings.Contains(got, `"data":{"k":"2"}`) {
			t.Errorf("object after force\n%s", got)
		}
	})
}

// serviceText has ports, which are keyed by numbers: their order as text differs.
const serviceText = `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s"},
	"spec":{"ports":[{"port":443,"protocol":"TCP"},{"port":80,"protocol":"TCP"}]}}`

func TestEntriesKeepTheirOrder(t *testing.T) {
	for name, held := range map[string]*runtime.Scheme{"unstructured": nil, "structs": scheme.Scheme} {
		a := newPeer(t, Config{GVK: service, Scheme: held}).Apply(nil, []byte(serviceText), "alpha", false)
		text := string(ok(t, a))
		if small, large := `k:{\"port\":80,`, `k:{\"port\":443,`; strings.Index(string(a.Entries), small) > strings.Index(string(a.Entries), large) {
			t.Errorf("%s: port 443 is before 80 in entries:\n%s", name, a.Entries)
		} else if sorted := strings.Index(text, large) < strings.Index(text, small); sorted != (held == nil) {
			t.Errorf("%s: names sorted as text: %t\n%s", name, sorted, text)
		}
	}
}

func TestStructsAreDecodedAsStructs(t *testing.T) {
	p := newPeer(t, Config{GVK: service, Scheme: scheme.Scheme})
	live := ok(t, p.Apply(nil, []byte(serviceText), "alpha", false))
	if !strings.Contains(string(live), `"status":{"loadBalancer":{}}`) {
		t.Errorf("no zero status, as the Go struct prints it:\n%s", live)
	}
	changed := strings.Replace(string(live), `"port":80`, `"port":81`, 1)
	updated := p.Update(live, []byte(changed), "beta")
	if got := string(ok(t, updated)); !strings.Contains(got, `"port":81`) {
		t.Errorf("object after update\n%s", got)
	}
	if !strings.Contains(string(updated.Entries), `"manager":"beta","operation":"Update"`) {
		t.Errorf("beta owns nothing after its update:\n%s", updated.Entries)
	}
}

func TestSubresourceAndResetFields(t *testing.T) {
	p := newPeer(t, Config{GVK: deployment, Subresource: "status", ResetFields: map[fieldpath.APIVersion]fieldpath.Filter{
		"apps/v1": fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("spec"))),
	}})
	const config = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2},"status":{"replicas":1}}`
	a := p.Apply(nil, []byte(config), "alpha", false)
	if text := string(ok(t, a)); !strings.Contains(text, `"spec":{"replicas":2}`) {
		t.Errorf("the object lost a reset field:\n%s", text)
	}
	if got := string(a.Entries); !strings.Contains(got, `"fieldsV1":{"f:status":{"f:replicas":{}}},"subresource":"status"`) {
		t.Errorf("entries\n%s", got)
	}
}

func TestOtherVersions(t *testing.T) {
	p := newPeer(t, Config{GVK: deployment})
	const live = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d","managedFields":[
		{"manager":"old","operation":"Update","apiVersion":"apps/v1beta1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}},
		{"manager":"gone","operation":"Update","apiVersion":"apps/v0","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:paused":{}}}}
	]},"spec":{"replicas":1,"paused":true}}`
	const config = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},"spec":{"replicas":2,"paused":false}}`
	refused := p.Apply([]byte(live), []byte(config), "alpha", false)
	const want = `Apply failed with 1 conflict: conflict with "old" using apps/v1beta1: .spec.replicas`
	if refused.Err == nil || refused.Err.Error() != want {
		t.Errorf("got  %v\nwant %s", refused.Err, want)
	}
}

// TestCausesHaveOneOrder checks the order of conflicts, which the reference finds in map order.
func TestCausesHaveOneOrder(t *testing.T) {
	p := newPeer(t, Config{GVK: configMap})
	managers := []string{"d", "b", "a", "c", `b" using v1`}
	var live []byte
	for _, m := range managers {
		live = ok(t, p.Apply(live, configMapOf("1"), m, false))
	}
	for range 30 {
		var status metav1.Status
		if err := json.Unmarshal(p.Apply(live, configMapOf("2"), "z", false).Status, &status); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, cause := range status.Details.Causes {
			got = append(got, strings.TrimPrefix(cause.Message, "conflict with "))
		}
		if want := `"a" "b" "b\" using v1" "c" "d"`; strings.Join(got, " ") != want {
			t.Fatalf("causes name %s, want %s", got, want)
		}
	}
}

func TestUpdateNoErrorsKeepsEntries(t *testing.T) {
	p := newPeer(t, Config{GVK: configMap})
	first := p.Apply(nil, configMapOf("1"), "alpha", false)
	broken := strings.Replace(string(configMapOf("2")), `"data"`, `"unknown":true,"data"`, 1)
	if a := p.Update(first.Object, []byte(broken), "beta"); a.Err == nil {
		t.Errorf("Update accepted an unknown field: %s", a.Object)
	}
	a := p.UpdateNoErrors(first.Object, []byte(broken), "beta")
	if text := string(ok(t, a)); !strings.Contains(text, `"unknown":true`) || string(a.Entries) != string(first.Entries) {
		t.Errorf("object\n%s\nentries\n%s", text, a.Entries)
	}
}

func TestCustomResources(t *testing.T) {
	p := newPeer(t, Config{GVK: widget, Types: managedfields.NewDeducedTypeConverter(), Custom: true})
	const config = `{"apiVersion":"example.org/v1","kind":"Widget","metadata":{"name":"w"},"spec":{"sizes":[1,2],"mode":"x"}}`
	a := p.Apply(nil, []byte(config), "alpha", false)
	ok(t, a)
	if got := string(a.Entries); !strings.Contains(got, `{"f:spec":{".":{},"f:mode":{},"f:sizes":{}}}`) {
		t.Errorf("entries\n%s", got)
	}
}

func TestFailures(t *testing.T) {
	if _, err := New(Config{GVK: widget}); err == nil {
		t.Error("New found types for a custom kind")
	}
	p := newPeer(t, Config{GVK: configMap})
	other := strings.Replace(string(configMapOf("1")), `"v1"`, `"v2"`, 1)
	a := p.Apply(nil, []byte(other), "alpha", false)
	if !strings.Contains(string(a.Status), `"reason":"BadRequest"`) || a.Conflict() {
		t.Errorf("apply of another version answered %s", a.Status)
	}
	if a := p.Apply([]byte("{"), configMapOf("1"), "alpha", false); a.Err == nil {
		t.Errorf("a broken live object gave %s", a.Object)
	}
	if a := p.Update(nil, []byte("{"), "alpha"); a.Err == nil {
		t.Errorf("a broken update gave %s", a.Object)
	}
	if a := p.Apply(nil, []byte(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{},"x":1}`), "alpha", false); a.Err == nil ||
		!strings.Contains(string(a.Status), `"message":"`+a.Err.Error()+`","code":500`) {
		t.Errorf("an unknown field gave %v, status %s", a.Err, a.Status)
	}
}
