// Package podsecurity has the admission plugin PodSecurity: labels of a namespace say which of the Pod Security Standards its pods must meet,
// and which violations are noted or warned of. The library of Kubernetes decides; this package gives it requests and stored objects.
package podsecurity

import (
	"context"
	stderrors "errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	library "k8s.io/pod-security-admission/admission"
	config "k8s.io/pod-security-admission/admission/api"
	"k8s.io/pod-security-admission/admission/api/load"
	"k8s.io/pod-security-admission/admission/api/validation"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/metrics"
	"k8s.io/pod-security-admission/policy"

	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/admission"
	"github.com/deed-project/deed/server/hookclient"
	"github.com/deed-project/deed/server/registry"
	"github.com/deed-project/deed/server/store"
	"github.com/deed-project/deed/value"
	"github.com/deed-project/deed/value/structs"
)

// Plugin is the plugin. Its fields are set before use.
type Plugin struct {
	Store    store.Store
	Recorder metrics.Recorder // counts evaluations of pods and templates
	Minor    int              // the minor release of Kubernetes, whose checks count
	// Configuration has the policy of namespaces without labels, and exemptions; nil is that of kube-apiserver without a file. See [Read].
	Configuration *Config

	once     sync.Once
	delegate *library.Admission // made at the first use
}

// Config is the configuration of the plugin.
type Config = config.PodSecurityConfiguration

// Read reads a PodSecurityConfiguration of the group pod-security.admission.config.k8s.io, as YAML or JSON. No text is the default one.
func Read(text []byte) (*Config, error) {
	c, err := load.LoadFromData(text)
	if err == nil {
		err = validation.ValidatePodSecurityConfiguration(c).ToAggregate()
	}
	return c, err
}

// admission returns the library. It is made at the first request that it decides about.
func (p *Plugin) admission() *library.Admission {
	p.once.Do(func() {
		var err error
		if p.delegate, err = p.complete(); err != nil {
			panic(err) // Read has accepted the configuration
		}
	})
	return p.delegate
}

// complete makes the library.
func (p *Plugin) complete() (*library.Admission, error) {
	from := stored{p.Store}
	a := &library.Admission{
		Configuration: p.Configuration, Metrics: p.Recorder, NamespaceGetter: from, PodLister: from, PodSpecExtractor: library.DefaultPodSpecExtractor{},
	}
	var err error
	if a.Configuration == nil {
		if a.Configuration, err = Read(nil); err != nil {
			return nil, err
		}
	}
	var emulated *api.Version
	if p.Minor != builtin.CurrentMinor {
		v := api.MajorMinorVersion(1, p.Minor)
		emulated = &v
	}
	if a.Evaluator, err = policy.NewEvaluator(policy.DefaultChecks(), emulated); err == nil {
		err = a.CompleteConfiguration()
	}
	if err == nil {
		err = a.ValidateConfiguration()
	}
	return a, err
}

var (
	namespaces = kschema.GroupResource{Resource: "namespaces"}
	pods       = kschema.GroupResource{Resource: "pods"}
	// templates has, by resource, where the template of the pods of a controller is.
	templates = map[kschema.GroupResource][]string{
		{Resource: "replicationcontrollers"}:      {"spec", "template"},
		{Resource: "podtemplates"}:                {"template"},
		{Group: "apps", Resource: "replicasets"}:  {"spec", "template"},
		{Group: "apps", Resource: "deployments"}:  {"spec", "template"},
		{Group: "apps", Resource: "statefulsets"}: {"spec", "template"},
		{Group: "apps", Resource: "daemonsets"}:   {"spec", "template"},
		{Group: "batch", Resource: "jobs"}:        {"spec", "template"},
		{Group: "batch", Resource: "cronjobs"}:    {"spec", "jobTemplate", "spec", "template"},
	}
)

// Validate refuses pods that violate the policy of their namespace, and warns of objects whose pods will.
func (p *Plugin) Validate(ctx context.Context, r *admission.Request) error {
	resource := r.Resource.GroupResource()
	_, isController := templates[resource]
	if r.Operation != admission.Create && r.Operation != admission.Update || resource != namespaces && resource != pods && !isController {
		return nil
	}
	answer := p.admission().Validate(hookclient.Quiet(ctx), attributes{r})
	r.Warn(answer.Warnings...)
	if r.Annotate != nil {
		for _, key := range slices.Sorted(maps.Keys(answer.AuditAnnotations)) {
			r.Annotate(admission.Annotation{Key: api.AuditAnnotationPrefix + key, Value: answer.AuditAnnotations[key]})
		}
	}
	if answer.Allowed {
		return nil
	}
	//lint:ignore ST1005 the text is kube-apiserver's
	refusal := errors.NewForbidden(resource, r.Name, stderrors.New("Not allowed by PodSecurity"))
	if result := answer.Result; result != nil {
		refusal.ErrStatus.Message, refusal.ErrStatus.Reason, refusal.ErrStatus.Code = result.Message, result.Reason, result.Code
		if result.Details != nil {
			refusal.ErrStatus.Details = result.Details
		}
	}
	return refusal
}

// attributes are a request as the library sees it.
type attributes struct{ *admission.Request }

func (a attributes) GetName() string                           { return a.Name }
func (a attributes) GetNamespace() string                      { return a.Namespace }
func (a attributes) GetResource() kschema.GroupVersionResource { return a.Resource }
func (a attributes) GetKind() kschema.GroupVersionKind         { return a.Kind }
func (a attributes) GetSubresource() string                    { return a.Subresource }
func (a attributes) GetOperation() admissionv1.Operation       { return admissionv1.Operation(a.Operation) }
func (a attributes) GetUserName() string                       { return a.User.Name }
func (a attributes) GetObject() (runtime.Object, error)        { return a.decode(a.Object.Content()) }
func (a attributes) GetOldObject() (runtime.Object, error)     { return a.decode(a.Old.Content()) }

// decode returns an object as its Go type. A controller becomes a PodTemplate, or a ReplicationController without one: the library reads
// nothing else of controllers.
func (a attributes) decode(content value.Value) (runtime.Object, error) {
	switch resource := a.Resource.GroupResource(); resource {
	case namespaces:
		return into(content, &corev1.Namespace{})
	case pods:
		return into(content, &corev1.Pod{})
	default:
		template := content.Get(templates[resource]...)
		if template.Kind() != value.KindObject {
			return &corev1.ReplicationController{}, nil
		}
		out := &corev1.PodTemplate{}
		_, err := into(template, &out.Template)
		return out, err
	}
}

// into decodes content, and returns out.
func into[T any](content value.Value, out T) (T, error) { return out, structs.Into(content, out) }

// stored reads the objects that the library asks for.
type stored struct{ store.Store }

// GetNamespace implements [library.NamespaceGetter].
func (s stored) GetNamespace(ctx context.Context, name string) (*corev1.Namespace, error) {
	namespace, err := registry.Object(ctx, s.Store, "/registry/namespaces/"+name)
	if err != nil {
		return nil, err
	}
	return into(namespace, &corev1.Namespace{})
}

// ListPods implements [library.PodLister].
func (s stored) ListPods(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
	page, err := s.Range(ctx, store.Range{Prefix: "/registry/pods/" + namespace + "/"})
	var out []*corev1.Pod
	for _, record := range page.Records {
		content, err := value.Parse(record.Text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", record.Key, err)
		}
		pod, err := into(content, &corev1.Pod{})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", record.Key, err)
		}
		out = append(out, pod)
	}
	return out, err
}
