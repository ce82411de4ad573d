package webhook

import (
	"fmt"
	"time"

	registration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/labels"
	remote "k8s.io/apiserver/pkg/util/webhook"

	"github.com/deed-project/deed/server/admission/match"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Compiling configurations. A configuration is compiled once, when it is stored. What a request needs is then at hand: rules as lists of
// names, selectors, and a client. Match conditions are compiled on the first request that needs them.

// Hook is one compiled webhook of a configuration. It is immutable.
type Hook struct {
	configuration, name string
	id                  string // configuration/name/k, where k counts the hooks of the same name
	mutating            bool

	rules      []match.Rule
	equivalent bool // rules also match the other versions of the resources that they name
	// nil selects everything.
	namespaces, objects labels.Selector
	conditions          *conditions

	client   remote.ClientConfig
	reviews  []string // versions of AdmissionReview in the hook's order of preference
	timeout  time.Duration
	dryRun   dryRun
	failOpen bool // a failed call admits the write
	again    bool // call it again if another hook changes the object later
}

// dryRun tells whether a dry run may call a hook.
type dryRun uint8

const (
	dryRunUnknown   dryRun = iota // the configuration does not tell; treated as a failed call
	dryRunSafe                    // it has no side effects in a dry run
	dryRunForbidden               // it has side effects
)

// Compile returns the hooks of a MutatingWebhookConfiguration or ValidatingWebhookConfiguration of admissionregistration.k8s.io/v1 that has
// its defaults. The error tells which webhook does not compile, and why.
//
// It is all or nothing: if one webhook does not compile, no hook is returned.
func Compile(configuration value.Value) ([]*Hook, error) {
	hooks, err := webhooksOf(configuration)
	if err != nil {
		return nil, err
	}
	name := configuration.Get("metadata", "name").Str()
	mutating := configuration.Get("kind").Str() == mutatingKind
	seen := map[string]int{}
	out := make([]*Hook, 0, len(hooks))
	for i, w := range hooks {
		h, err := compile(name, w)
		if err != nil {
			return nil, fmt.Errorf("%s: webhooks[%d] %s: %w", name, i, w.Name, err)
		}
		h.mutating = mutating
		h.id = fmt.Sprintf("%s/%s/%d", name, w.Name, seen[w.Name])
		seen[w.Name]++
		out = append(out, h)
	}
	return out, nil
}

// The kinds of configurations.
const (
	mutatingKind   = "MutatingWebhookConfiguration"
	validatingKind = "ValidatingWebhookConfiguration"
)

// webhooksOf returns the webhooks of a configuration of either kind. The two types differ only in reinvocationPolicy, which mutating
// webhooks have.
//
// A validating configuration is read as a mutating one, whose hooks then have no reinvocation policy.
func webhooksOf(configuration value.Value) ([]registration.MutatingWebhook, error) {
	switch kind := configuration.Get("kind").Str(); kind {
	case mutatingKind, validatingKind:
	default:
		return nil, fmt.Errorf("kind %q is neither %s nor %s", kind, mutatingKind, validatingKind)
	}
	var c registration.MutatingWebhookConfiguration
	if err := structs.Into(configuration, &c); err != nil {
		return nil, err
	}
	return c.Webhooks, nil
}

// compile compiles one webhook. Fields that have defaults are nil only in configurations that did not get them.
func compile(configuration string, w registration.MutatingWebhook) (*Hook, error) {
	h := &Hook{
		configuration: configuration, name: w.Name, client: clientOf(w.Name, w.ClientConfig), reviews: w.AdmissionReviewVersions,
		failOpen:   w.FailurePolicy != nil && *w.FailurePolicy == registration.Ignore,
		equivalent: w.MatchPolicy != nil && *w.MatchPolicy == registration.Equivalent,
		again:      w.ReinvocationPolicy != nil && *w.ReinvocationPolicy == registration.IfNeededReinvocationPolicy,
	}
	if w.TimeoutSeconds != nil {
		h.timeout = time.Duration(*w.TimeoutSeconds) * time.Second
	}
	if s := w.SideEffects; s != nil {
		h.dryRun = dryRunForbidden
		if *s == registration.SideEffectClassNone || *s == registration.SideEffectClassNoneOnDryRun {
			h.dryRun = dryRunSafe
		}
	}
	for _, r := range w.Rules {
		h.rules = append(h.rules, match.CompileRule(r))
	}
	var err error
	if h.namespaces, err = match.Selector(w.NamespaceSelector); err != nil {
		return nil, fmt.Errorf("namespaceSelector: %w", err)
	}
	if h.objects, err = match.Selector(w.ObjectSelector); err != nil {
		return nil, fmt.Errorf("objectSelector: %w", err)
	}
	h.conditions = newConditions(w.MatchConditions, h)
	return h, nil
}

// clientOf returns how a hook is reached: by a URL, or by a service with a port and a path.
func clientOf(name string, c registration.WebhookClientConfig) remote.ClientConfig {
	out := remote.ClientConfig{Name: name, CABundle: c.CABundle}
	if c.URL != nil {
		out.URL = *c.URL
	}
	if s := c.Service; s != nil {
		out.Service = &remote.ClientConfigService{Name: s.Name, Namespace: s.Namespace}
		if s.Port != nil {
			out.Service.Port = *s.Port
		}
		if s.Path != nil {
			out.Service.Path = *s.Path
		}
	}
	return out
}
