package pods_test

import (
	"strings"
	"testing"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/registry/pods"
	"github.com/deed-project/deed/server/store/memory"
	"github.com/deed-project/deed/value"
)

// tolerated is the spec of a pod that tolerates failing nodes, without its last bracket.
const tolerated = `"tolerations":[{"operator":"Exists"}]`

func parse(t *testing.T, text string) value.Value {
	t.Helper()
	v, err := value.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// admit returns the spec of a pod that a write of it stores, or the error.
func admit(t *testing.T, classes []string, operation admission.Operation, subresource, spec, old string) string {
	t.Helper()
	s := memory.New()
	defer s.Close()
	for _, class := range classes {
		name := parse(t, class).Get("metadata", "name").Str()
		if _, err := s.Put(t.Context(), "/registry/priorityclasses/"+name, []byte(class), 0); err != nil {
			t.Fatal(err)
		}
	}
	pod := func(spec string) admission.Object {
		if spec == "" {
			return admission.Object{}
		}
		return admission.DocumentOf(parse(t, `{"metadata":{"name":"p"},"spec":{`+spec+`}}`))
	}
	r := &admission.Request{Operation: operation, Subresource: subresource, Name: "p", Object: pod(spec), Old: pod(old)}
	r.Resource = kschema.GroupVersionResource{Version: "v1", Resource: "pods"}
	chain := admission.Chain{admission.Mutate(pods.Priority{Store: s}.Admit), admission.Mutate(pods.Tolerate)}
	if err := chain.Mutate(t.Context(), r); err != nil {
		return err.Error()
	}
	return r.Object.Content().Get("spec").String()
}

// TestPriority creates pods whose classes exist, are missing, or say something else than the pod.
func TestPriority(t *testing.T) {
	classes := []string{
		`{"metadata":{"name":"high"},"preemptionPolicy":"Never","value":9}`,
		`{"metadata":{"name":"plain"},"value":5}`,
		`{"globalDefault":true,"metadata":{"name":"usual"},"value":3}`,
		`{"globalDefault":true,"metadata":{"name":"least"},"value":2}`,
	}
	for _, c := range []struct {
		classes    []string
		spec, want string
	}{
		{classes, `"priorityClassName":"high",`, `{"preemptionPolicy":"Never","priority":9,"priorityClassName":"high",` + tolerated + `}`},
		{classes, `"priority":9,"preemptionPolicy":"Never","priorityClassName":"high",`, `{"preemptionPolicy":"Never","priority":9,"priorityClassName":"high",` + tolerated + `}`},
		{classes, `"preemptionPolicy":"Never","priorityClassName":"plain",`, `{"preemptionPolicy":"Never","priority":5,"priorityClassName":"plain",` + tolerated + `}`},
		{classes, ``, `{"priority":2,"priorityClassName":"least",` + tolerated + `}`},
		{classes[:3], `"priority":null,`, `{"priority":3,"priorityClassName":"usual",` + tolerated + `}`},
		{classes[:2], ``, `{"preemptionPolicy":"PreemptLowerPriority","priority":0,` + tolerated + `}`},
		{classes, `"priorityClassName":"none",`, `pods "p" is forbidden: no PriorityClass with name none was found`},
		{classes, `"priority":1,"priorityClassName":"high",`, `pods "p" is forbidden: the integer value of priority (1) must not be provided in pod spec; ` +
			`priority admission controller computed 9 from the given PriorityClass name`},
		{classes, `"preemptionPolicy":"PreemptLowerPriority","priorityClassName":"high",`, `pods "p" is forbidden: the string value of PreemptionPolicy ` +
			`(PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name`},
	} {
		if got := admit(t, c.classes, admission.Create, "", c.spec+tolerated, ""); got != c.want {
			t.Errorf("a pod with %s\n becomes %s\nwant %s", c.spec, got, c.want)
		}
	}
}

// TestUpdate keeps the priority of a pod, and touches no other write.
func TestUpdate(t *testing.T) {
	for _, c := range []struct {
		operation         admission.Operation
		subresource, spec string
		want              string
	}{
		{admission.Update, "", tolerated, `{"preemptionPolicy":"Never","priority":7,` + tolerated + `}`},
		{admission.Update, "", `"priority":1,` + tolerated, `{"preemptionPolicy":"Never","priority":1,` + tolerated + `}`},
		{admission.Update, "status", `"a":1`, `{"a":1}`},
		{admission.Delete, "", `"a":1`, `{"a":1}`},
	} {
		if got := admit(t, nil, c.operation, c.subresource, c.spec, `"preemptionPolicy":"Never","priority":7`); got != c.want {
			t.Errorf("%s of %q with %s becomes %s, want %s", c.operation, c.subresource, c.spec, got, c.want)
		}
	}
}

// TestTolerations adds tolerations of failing nodes that a pod lacks.
func TestTolerations(t *testing.T) {
	added := func(taint string) string {
		return `{"effect":"NoExecute","key":"node.kubernetes.io/` + taint + `","operator":"Exists","tolerationSeconds":300}`
	}
	both := added("not-ready") + "," + added("unreachable")
	for _, c := range []struct{ tolerations, want string }{
		{``, both},
		{`{"key":"a"}`, `{"key":"a"},` + both},
		{`{"key":"node.kubernetes.io/unreachable","tolerationSeconds":9}`, `{"key":"node.kubernetes.io/unreachable","tolerationSeconds":9},` + added("not-ready")},
		{`{"effect":"NoExecute","key":"node.kubernetes.io/not-ready"}`, `{"effect":"NoExecute","key":"node.kubernetes.io/not-ready"},` + added("unreachable")},
		{`{"effect":"NoSchedule"}`, `{"effect":"NoSchedule"},` + both},
		{`{"effect":"NoExecute","operator":"Exists"}`, `{"effect":"NoExecute","operator":"Exists"}`},
	} {
		got := admit(t, nil, admission.Create, "", `"tolerations":[`+c.tolerations+`]`, "")
		if want := `"tolerations":[` + c.want + `]}`; !strings.HasSuffix(got, want) {
			t.Errorf("tolerations %s become %s, want %s", c.tolerations, got, want)
		}
	}
}

// TestOthers passes objects of other resources, also those that are called pods in another group.
func TestOthers(t *testing.T) {
	for _, resource := range []kschema.GroupVersionResource{{Version: "v1", Resource: "nodes"}, {Group: "g.io", Version: "v1", Resource: "pods"}} {
		r := &admission.Request{Operation: admission.Create, Object: admission.DocumentOf(parse(t, `{"spec":{}}`))}
		r.Resource = resource
		chain := admission.Chain{admission.Mutate(pods.Priority{}.Admit), admission.Mutate(pods.Tolerate)}
		if err := chain.Mutate(t.Context(), r); err != nil || r.Object.Content().String() != `{"spec":{}}` {
			t.Errorf("%v becomes %v (error %v)", resource, r.Object.Content(), err)
		}
	}
}
