package admission_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/deed-project/deed/server/admission"
)

// TestPasses checks that one plugin's request for a second pass calls every plugin exactly twice.
func TestPasses(t *testing.T) {
	var order []string
	note := func(name string, again bool) admission.Plugin {
		return admission.Mutate(func(_ context.Context, r *admission.Request) error {
			order = append(order, name+string(rune('0'+r.Pass())))
			if again {
				r.Again()
			}
			return nil
		})
	}
	chain := admission.Chain{note("a", false), note("b", true), note("c", false)}
	if err := chain.Mutate(t.Context(), &admission.Request{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a0", "b0", "c0", "a1", "b1", "c1"}; !slices.Equal(order, want) {
		t.Errorf("asked %v, want %v", order, want)
	}
	order = nil
	if err := (admission.Chain{note("a", false), note("c", false)}).Mutate(t.Context(), &admission.Request{}); err != nil || len(order) != 2 {
		t.Errorf("asked %v where nobody wants a second pass: %v", order, err)
	}
	order = nil
	refuse := admission.Mutate(func(context.Context, *admission.Request) error { return errors.New("no") })
	if err := (admission.Chain{note("b", true), refuse}).Mutate(t.Context(), &admission.Request{}); err == nil || len(order) != 1 {
		t.Errorf("asked %v before a refusal: %v", order, err)
	}
}

// TestRefusal checks that both phases of a chain stop at the first plugin that refuses.
func TestRefusal(t *testing.T) {
	refused := errors.New("no")
	after := func(context.Context, *admission.Request) error {
		t.Error("a plugin is asked after a refusal")
		return nil
	}
	refuse := func(context.Context, *admission.Request) error { return refused }
	mutating := admission.Chain{admission.Validate(after), admission.Mutate(refuse), admission.Mutate(after)}
	if err := mutating.Mutate(t.Context(), &admission.Request{}); err != refused {
		t.Errorf("Mutate: %v", err)
	}
	validating := admission.Chain{admission.Mutate(after), admission.Validate(refuse), admission.Validate(after)}
	if err := validating.Validate(t.Context(), &admission.Request{}); err != refused {
		t.Errorf("Validate: %v", err)
	}
}

// TestMemory checks that each plugin gets back its own state in the second pass.
func TestMemory(t *testing.T) {
	q := &admission.Request{}
	a, b := admission.Mutate(nil), admission.Mutate(nil)
	if q.Memory(a) != nil {
		t.Error("a new request remembers something")
	}
	q.Remember(a, 1)
	q.Remember(b, 2)
	if q.Memory(a) != 1 || q.Memory(b) != 2 {
		t.Errorf("remembered %v and %v", q.Memory(a), q.Memory(b))
	}
}
