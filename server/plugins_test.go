package server_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// TestAskedOnce counts how often admission is asked about a delete: again about an object that was to be updated before it goes, but not of
// a dry run, and not at all about a pod that ends no sooner for it.
func TestAskedOnce(t *testing.T) {
	var deletes int
	s := newServer(t, server.Config{Admission: admission.Chain{
		admission.Validate(func(_ context.Context, r *admission.Request) error {
			if r.Operation == admission.Delete {
				deletes++
			}
			return nil
		}),
	}})
	const pods = core + "namespaces/default/pods"
	create := func(path, body string) {
		t.Helper()
		if w := ask(s, "POST "+path+jsonize, body); w.Code != http.StatusCreated {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	create(things, strings.Replace(web, `"name":"web"`, `"name":"web","finalizers":["orphan"]`, 1))
	create(pods, `{"metadata":{"name":"a"},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}}`)
	for _, c := range []struct {
		request string
		times   int
	}{
		{"DELETE " + things + "/web?propagationPolicy=Background&dryRun=All", 1},
		{"DELETE " + things + "/web?propagationPolicy=Background", 2},
		{"DELETE " + pods + "/a", 1},
		{"DELETE " + pods + "/a", 0},
		{"DELETE " + pods + "/a?gracePeriodSeconds=30", 0},
		{"DELETE " + pods + "/a?gracePeriodSeconds=29", 1},
	} {
		if deletes = 0; ask(s, c.request, "").Code != http.StatusOK || deletes != c.times {
			t.Errorf("%s: asked %d times, want %d", c.request, deletes, c.times)
		}
	}
}

// TestFieldsTakenOut has admission leave an empty list of managed fields, which is not stored.
func TestFieldsTakenOut(t *testing.T) {
	objects := memory.New()
	s := newServer(t, server.Config{Store: objects, Admission: admission.Chain{
		admission.Mutate(func(_ context.Context, r *admission.Request) error {
			if r.Operation == admission.Create && r.Resource.Resource == "widgets" {
				r.Object = admission.DocumentOf(api.WithMetadata(r.Object.Content(), "managedFields", value.List()))
			}
			return nil
		}),
	}})
	w := ask(s, "POST "+things+jsonize, web)
	record, err := objects.Get(t.Context(), "/registry/example.org/widgets/default/web", 0)
	if err != nil {
		t.Fatal(err)
	}
	if told := fmt.Sprint(w.Body, string(record.Text)); w.Code != http.StatusCreated || strings.Contains(told, "managedFields") {
		t.Errorf("%d %s", w.Code, told)
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
		s := newServer(t, server.Config{Admission: admission.Chain{refuse}})
		w := ask(s, "POST "+core+"namespaces/default/configmaps"+jsonize, `{"metadata": {"name": "odd"}}`)
		if want := fmt.Sprintf(`"code":%d`, code); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), want) {
			t.Errorf("code %d: %d %s", code, w.Code, w.Body)
		}
	}
}
