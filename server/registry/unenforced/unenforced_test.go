package unenforced_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/registry/unenforced"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// TestWarn warns of objects that have no effect, whenever they are written.
func TestWarn(t *testing.T) {
	const group = "admissionregistration.k8s.io"
	for _, c := range []struct {
		group, resource, subresource string
		deleted                      bool
		want                         string
	}{
		{"", "limitranges", "", false, "LimitRanges"},
		{"", "resourcequotas", "", false, "ResourceQuotas"},
		{"", "resourcequotas", "status", false, ""},
		{"", "resourcequotas", "", true, ""},
		{group, "validatingadmissionpolicies", "", false, "ValidatingAdmissionPolicies"},
		{group, "validatingadmissionpolicybindings", "", false, "ValidatingAdmissionPolicies"},
		{group, "mutatingadmissionpolicies", "", false, "MutatingAdmissionPolicies"},
		{group, "mutatingadmissionpolicybindings", "", false, "MutatingAdmissionPolicies"},
		{"g.io", "limitranges", "", false, ""},
		{"", "pods", "", false, ""},
	} {
		var warned []string
		r := &admission.Request{Subresource: c.subresource, Warn: func(texts ...string) { warned = append(warned, texts...) }}
		r.Resource = kschema.GroupVersionResource{Group: c.group, Version: "v1", Resource: c.resource}
		if !c.deleted {
			r.Object = admission.DocumentOf(value.Object())
		}
		err := unenforced.Without().Warn(t.Context(), r)
		want := "[]"
		if c.want != "" {
			want = "[this server stores " + c.want + " but does not enforce them]"
		}
		if got := fmt.Sprint(warned); err != nil || got != want {
			t.Errorf("%+v: the warnings are %s (error %v), want %s", c, got, err, want)
		}
		if c.want != "" && !strings.Contains(fmt.Sprint(unenforced.Without().Names()), c.want) {
			t.Errorf("%s is not in %v", c.want, unenforced.Without().Names())
		}
	}
}

// TestReport logs the resources that have objects.
func TestReport(t *testing.T) {
	s := memory.New()
	defer s.Close()
	if _, err := s.Put(t.Context(), "/registry/limitranges/n/a", []byte("{}"), 0); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	served := []*catalog.Version{{Name: "v1"}}
	all := catalog.New(
		&catalog.Resource{Plural: "limitranges", Prefix: "/registry/limitranges/", Versions: served},
		&catalog.Resource{Plural: "resourcequotas", Prefix: "/registry/resourcequotas/", Versions: served},
	)
	unenforced.Without().Report(t.Context(), s, all, logs.New(slog.New(slog.NewTextHandler(&log, nil))))
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "objects are stored but not enforced") || !strings.Contains(got, "resource=limitranges") {
		t.Errorf("the log is %q", got)
	}
}

// TestWithout leaves out the kinds that a plugin gives effect.
func TestWithout(t *testing.T) {
	const want = "[ValidatingAdmissionPolicies MutatingAdmissionPolicies ResourceQuotas]"
	if got := fmt.Sprint(unenforced.Without("LimitRanger", "PodSecurity").Names()); got != want {
		t.Errorf("without LimitRanger %s have no effect, want %s", got, want)
	}
}
