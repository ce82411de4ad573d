package controllers_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/deed-project/deed/server/apitest"
)

// Widget is the Go type of the custom resource in testdata/widgets.yaml.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              WidgetSpec   `json:"spec"`
	Status            WidgetStatus `json:"status,omitzero"`
}

// WidgetSpec is the desired state of a Widget.
type WidgetSpec struct {
	Replicas *int32 `json:"replicas,omitempty"`
	Color    string `json:"color,omitempty"`
}

// WidgetStatus is the observed state of a Widget.
type WidgetStatus struct {
	Replicas int32 `json:"replicas,omitempty"`
}

// WidgetList is a list of Widgets.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Widget `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	w.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	if w.Spec.Replicas != nil {
		out.Spec.Replicas = new(*w.Spec.Replicas)
	}
	return &out
}

// DeepCopyObject implements runtime.Object.
func (l *WidgetList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = nil
	for i := range l.Items {
		out.Items = append(out.Items, *l.Items[i].DeepCopyObject().(*Widget))
	}
	return &out
}

// widgetApply is the configuration that a client applies to a Widget. It does not own the fields that it omits.
type widgetApply struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Metadata   widgetApplyMeta `json:"metadata"`
	Spec       *WidgetSpec     `json:"spec,omitempty"`
	Status     *WidgetStatus   `json:"status,omitempty"`
}

type widgetApplyMeta struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// IsApplyConfiguration implements runtime.ApplyConfiguration.
func (*widgetApply) IsApplyConfiguration() {}

// GetName, GetNamespace, GetKind and GetAPIVersion tell the client where to send the configuration.
func (a *widgetApply) GetName() *string       { return &a.Metadata.Name }
func (a *widgetApply) GetNamespace() *string  { return &a.Metadata.Namespace }
func (a *widgetApply) GetKind() *string       { return &a.Kind }
func (a *widgetApply) GetAPIVersion() *string { return &a.APIVersion }

// applied returns a configuration for a Widget in namespace default.
func applied(name string, spec *WidgetSpec) *widgetApply {
	return &widgetApply{
		APIVersion: widgets.String(), Kind: "Widget", Metadata: widgetApplyMeta{Name: name, Namespace: "default"}, Spec: spec,
	}
}

var widgets = schema.GroupVersion{Group: "example.org", Version: "v1"}

// scheme has the built-in kinds and Widgets.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	s.AddKnownTypes(widgets, &Widget{}, &WidgetList{})
	metav1.AddToGroupVersion(s, widgets)
	if err := clientscheme.AddToScheme(s); err != nil {
		panic(err) // cannot happen: the kinds are compiled in
	}
	return s
}()

// start starts a server with Widgets, and returns controller-runtime's client for it.
func start(t *testing.T, with ...apitest.Option) (*apitest.Server, client.WithWatch) {
	t.Helper()
	s := apitest.Start(t, append([]apitest.Option{apitest.CRDs("../testdata/widgets.yaml")}, with...)...)
	c, err := client.NewWithWatch(s.RESTConfig(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

// newWidget returns a Widget in namespace default.
func newWidget(name, color string, replicas int32) *Widget {
	return &Widget{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       WidgetSpec{Replicas: &replicas, Color: color},
	}
}

// check fails the test on an error.
func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
