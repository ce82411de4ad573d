package webhook_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// TestAskedOnce counts how often admission is asked about a delete: again about an object that was to be updated before it goes, but not of
// a dry run, and not at all about a pod that ends no sooner for it.
func TestAskedOnce(t *testing.T) {
	var deletes int
	s := servertest.New(t, server.Config{Admission: admission.Chain{
		admission.Validate(func(_ context.Context, r *admission.Request) error {
			if r.Operation == admission.Delete {
				deletes++
			}
			return nil
		}),
	}})
	const pods = servertest.Core + "namespaces/default/pods"
	create := func(path, body string) {
		t.Helper()
		if w := servertest.Ask(s, "POST "+path+servertest.JSON, body); w.Code != http.StatusCreated {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	create(servertest.Things, strings.Replace(servertest.Web, `"name":"web"`, `"name":"web","finalizers":["orphan"]`, 1))
	create(pods, `{"metadata":{"name":"a"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
	for _, c := range []struct {
		request string
		times   int
	}{
		{"DELETE " + servertest.Things + "/web?propagationPolicy=Background&dryRun=All", 1},
		{"DELETE " + servertest.Things + "/web?propagationPolicy=Background", 2},
		{"DELETE " + pods + "/a", 1},
		{"DELETE " + pods + "/a", 0},
		{"DELETE " + pods + "/a?gracePeriodSeconds=30", 0},
		{"DELETE " + pods + "/a?gracePeriodSeconds=29", 1},
	} {
		if deletes = 0; servertest.Ask(s, c.request, "").Code != http.StatusOK || deletes != c.times {
			t.Errorf("%s: asked %d times, want %d", c.request, deletes, c.times)
		}
	}
}

// TestAskedAgain counts how often admission is asked about updates after a definition got a default, which stored objects lack: twice about one
// that leaves the object as it was read, since that is stored then, and once about all others.
func TestAskedAgain(t *testing.T) {
	var asked int
	s := servertest.New(t, server.Config{Admission: admission.Chain{
		admission.Validate(func(_ context.Context, r *admission.Request) error {
			if r.Operation == admission.Update && r.Endpoint.Kind.Kind == "Gadget" {
				asked++
			}
			return nil
		}),
	}})
	servertest.Create(t, s, servertest.DefinitionsPath, servertest.Gadgets)
	const gadgets = servertest.Group + "namespaces/default/gadgets"
	for _, name := range []string{"a", "b"} {
		servertest.Create(t, s, gadgets, `{"apiVersion":"example.org/v1","kind":"Gadget","metadata":{"name":"`+name+`"}}`)
	}
	versions := `[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer","default":1}}}}}]`
	update := func(path, patch string, times int, isStored bool) {
		t.Helper()
		before := servertest.Parsed(t, servertest.Ask(s, "GET "+path, "")).Get("metadata", "resourceVersion")
		asked = 0
		w := servertest.Ask(s, "PATCH "+path+" Content-Type=application/merge-patch+json", patch)
		after := servertest.Parsed(t, servertest.Ask(s, "GET "+path, "")).Get("metadata", "resourceVersion")
		if w.Code != http.StatusOK || asked != times || before.Equal(after) == isStored {
			t.Errorf("%s to %s: %d, asked %d times, want %d; versions %v and %v", patch, path, w.Code, asked, times, before, after)
		}
	}
	update(servertest.DefinitionsPath+"/gadgets.example.org", `{"spec":{"versions":`+versions+`}}`, 0, true)
	update(gadgets+"/a?dryRun=All", `{}`, 1, false)
	update(gadgets+"/a", `{}`, 2, true)
	update(gadgets+"/a", `{}`, 1, false)
	update(gadgets+"/b", `{"size":2}`, 1, true)
}

// TestRenamedKey gives a new object another name in admission: an apply stores it under the name of its path, where later requests find it, and a
// create under the new name.
func TestRenamedKey(t *testing.T) {
	s := servertest.New(t, server.Config{Admission: admission.Chain{
		admission.Mutate(func(_ context.Context, r *admission.Request) error {
			if r.Operation == admission.Create && r.Endpoint.Kind.Kind == "Widget" {
				r.Object = r.Object.With(api.WithMetadata(r.Object.Content(), "name", value.String("other")))
			}
			return nil
		}),
	}})
	const apply = " Content-Type=application/apply-patch+yaml"
	for _, name := range []string{"web", "web2"} {
		body := strings.Replace(servertest.Web, `"web"`, `"`+name+`"`, 1)
		w := servertest.Ask(s, "PATCH "+servertest.Things+"/"+name+"?fieldManager=m"+apply, body)
		if w.Code != http.StatusCreated || servertest.Parsed(t, w).Get("metadata", "name").Str() != "other" {
			t.Errorf("an apply of %s: %d %s", name, w.Code, w.Body)
		}
		if w := servertest.Ask(s, "GET "+servertest.Things+"/"+name, ""); w.Code != http.StatusOK {
			t.Errorf("%s is not where it was applied: %d %s", name, w.Code, w.Body)
		}
	}
	if w := servertest.Ask(s, "GET "+servertest.Things+"/other", ""); w.Code != http.StatusNotFound {
		t.Errorf("an apply stored the object under its new name: %d %s", w.Code, w.Body)
	}
	servertest.Create(t, s, servertest.Things, strings.Replace(servertest.Web, `"web"`, `"made"`, 1))
	if w := servertest.Ask(s, "GET "+servertest.Things+"/other", ""); w.Code != http.StatusOK {
		t.Errorf("a create did not store the object under its new name: %d %s", w.Code, w.Body)
	}
}

// TestRefusedRemoval lets admission refuse a deletion when it is asked again, about an object that was marked before it goes: the object stays.
func TestRefusedRemoval(t *testing.T) {
	asked := 0
	s := servertest.New(t, server.Config{Admission: admission.Chain{
		admission.Validate(func(_ context.Context, r *admission.Request) error {
			if r.Operation != admission.Delete {
				return nil
			}
			if asked++; asked < 2 {
				return nil
			}
			return errors.NewForbidden(r.Resource.GroupResource(), r.Name, fmt.Errorf("it is asked about again"))
		}),
	}})
	servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, strings.Replace(servertest.Web, `"name":"web"`, `"name":"web","finalizers":["orphan"]`, 1))
	if w := servertest.Ask(s, "DELETE "+servertest.Things+"/web?propagationPolicy=Background", ""); w.Code != http.StatusForbidden {
		t.Errorf("the deletion is answered with %d %s", w.Code, w.Body)
	}
	if w := servertest.Ask(s, "GET "+servertest.Things+"/web", ""); w.Code != http.StatusOK {
		t.Errorf("then the object is answered with %d %s", w.Code, w.Body)
	}
}

// TestRenamed has admission rename a new object. Later refusals are about the name that the request has.
func TestRenamed(t *testing.T) {
	s := servertest.New(t, server.Config{Admission: admission.Chain{
		admission.Mutate(func(_ context.Context, r *admission.Request) error {
			if r.Resource.Resource == "widgets" {
				r.Object = admission.DocumentOf(api.WithMetadata(r.Object.Content(), "name", value.String("renamed")))
			}
			return nil
		}),
		admission.Validate(func(_ context.Context, r *admission.Request) error {
			if r.Resource.Resource == "widgets" {
				return errors.NewForbidden(r.Resource.GroupResource(), r.Name, fmt.Errorf("nothing may be created"))
			}
			return nil
		}),
	}})
	for _, request := range []string{"POST " + servertest.Things + servertest.JSON, "PATCH " + servertest.Things + "/web?fieldManager=m" + servertest.ApplyPatch} {
		w := servertest.Ask(s, request, servertest.Web)
		if want := `"web" is forbidden: nothing may be created`; w.Code != http.StatusForbidden || !strings.Contains(servertest.Message(w), want) {
			t.Errorf("%s: %d %s, want %s", request, w.Code, w.Body, want)
		}
	}
}

// TestFieldsTakenOut has admission leave an empty list of managed fields, which is not stored.
func TestFieldsTakenOut(t *testing.T) {
	objects := memory.New()
	s := servertest.New(t, server.Config{Store: objects, Admission: admission.Chain{
		admission.Mutate(func(_ context.Context, r *admission.Request) error {
			if r.Operation == admission.Create && r.Resource.Resource == "widgets" {
				r.Object = admission.DocumentOf(api.WithMetadata(r.Object.Content(), "managedFields", value.List()))
			}
			return nil
		}),
	}})
	w := servertest.Ask(s, "POST "+servertest.Things+servertest.JSON, servertest.Web)
	record, err := objects.Get(t.Context(), "/registry/example.org/widgets/default/web", 0)
	if err != nil {
		t.Fatal(err)
	}
	if told := fmt.Sprint(w.Body, string(record.Text)); w.Code != http.StatusCreated || strings.Contains(told, "managedFields") {
		t.Errorf("%d %s", w.Code, told)
	}
}

// TestUndoneWrites has admission put back what clients change. A write after which another manager owns the field is
// stored. One that comes to nothing is not, and no client takes it for a change: version and times stay.
func TestUndoneWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const maps = servertest.Core + "namespaces/default/configmaps"
		s := servertest.New(t, server.Config{Admission: admission.Chain{
			admission.Mutate(func(_ context.Context, r *admission.Request) error {
				if r.Operation == admission.Update && r.Resource.Resource == "configmaps" {
					content := r.Object.Content()
					data := content.Get("data").With("a", value.String("1"))
					r.Object = r.Object.With(content.With("data", data))
				}
				return nil
			}),
		}})
		defer s.Close()
		write := func(request, body string) (version, times, owner string) {
			t.Helper()
			w := servertest.Ask(s, request, body)
			if w.Code >= 300 {
				t.Fatalf("%s: %d %s", request, w.Code, w.Body)
			}
			metadata := servertest.Parsed(t, w).Get("metadata")
			for entry := range metadata.Get("managedFields").Items() {
				times += entry.Get("time").Str() + " "
				if !entry.Get("fieldsV1", "f:data", "f:a").IsAbsent() {
					owner += entry.Get("manager").Str()
				}
			}
			time.Sleep(time.Minute)
			return metadata.Get("resourceVersion").Str(), times, owner
		}
		write("POST "+maps+"?fieldManager=one", `{"metadata":{"name":"m"},"data":{"a":"1","b":"1"}}`)
		first, _, _ := write("PATCH "+maps+"/m?fieldManager=two"+servertest.MergePatch, `{"data":{"c":"1"}}`)
		second, times, owner := write("PATCH "+maps+"/m?fieldManager=two"+servertest.MergePatch, `{"data":{"a":"2"}}`)
		if second == first || owner != "two" {
			t.Errorf("a write that takes a field leads from version %s to %s, and to owner %q", first, second, owner)
		}
		third, timesAgain, owner := write("PATCH "+maps+"/m?fieldManager=two"+servertest.MergePatch, `{"data":{"a":"3"}}`)
		if third != second || timesAgain != times || owner != "two" {
			t.Errorf("a write that is undone leads from version %s of %sto %s of %s, and to owner %q", second, times, third, timesAgain, owner)
		}
	})
}

// TestRefusedSubresources has admission refuse what is asked of a pod beside reading and writing it: the pod stays as it is.
func TestRefusedSubresources(t *testing.T) {
	const pods = servertest.Core + "namespaces/default/pods"
	s := servertest.New(t, server.Config{Admission: admission.Chain{
		admission.Validate(func(_ context.Context, r *admission.Request) error {
			if r.Subresource == "" {
				return nil
			}
			return errors.NewForbidden(r.Resource.GroupResource(), r.Name, fmt.Errorf("%s is refused", r.Subresource))
		}),
	}})
	before := servertest.Ask(s, "POST "+pods+servertest.JSON, `{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	for what, body := range map[string]string{
		"eviction": `{"metadata":{"name":"a"}}`, "binding": `{"metadata":{"name":"a"},"target":{"name":"n"}}`, "exec": "", "portforward": "", "proxy": "",
	} {
		w := servertest.Ask(s, "POST "+pods+"/a/"+what+servertest.JSON, body)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), what+" is refused") {
			t.Errorf("%s: %d %s", what, w.Code, w.Body)
		}
	}
	if after := servertest.Ask(s, "GET "+pods+"/a", ""); !servertest.Parsed(t, after).Equal(servertest.Parsed(t, before)) {
		t.Errorf("the pod was %s and is %s", before.Body, after.Body)
	}
}

// TestOddStatusCodes refuses requests with codes that an answer cannot have: the answer has 500, and its body has the code.
func TestOddStatusCodes(t *testing.T) {
	for _, code := range []int32{-1, 42, 99, 1000, 9999} {
		refuse := admission.Validate(func(_ context.Context, r *admission.Request) error {
			if r.Name != "odd" {
				return nil
			}
			return &errors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: "no"}}
		})
		s := servertest.New(t, server.Config{Admission: admission.Chain{refuse}})
		w := servertest.Ask(s, "POST "+servertest.Core+"namespaces/default/configmaps"+servertest.JSON, `{"metadata": {"name": "odd"}}`)
		if want := fmt.Sprintf(`"code":%d`, code); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), want) {
			t.Errorf("code %d: %d %s", code, w.Code, w.Body)
		}
	}
}
