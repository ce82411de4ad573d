package controllers_test

import (
	"net/http"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/deed-project/deed/server/apitest"
)

// gauges is a definition from controller-gen, without a conversion strategy.
const gauges = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gauges.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Gauge, plural: gauges}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {celsius: {type: integer}}}}}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {kelvin: {type: integer}}}}}}
`

// Gauge is a Gauge in v1, the hub.
type Gauge struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Celsius int `json:"celsius"`
	} `json:"spec"`
}

// Hub marks the hub version of the conversion.
func (*Gauge) Hub() {}

// DeepCopyObject implements runtime.Object.
func (g *Gauge) DeepCopyObject() runtime.Object {
	out := *g
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// GaugeV2 is a Gauge in v2.
type GaugeV2 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Kelvin int `json:"kelvin"`
	} `json:"spec"`
}

// DeepCopyObject implements runtime.Object.
func (g *GaugeV2) DeepCopyObject() runtime.Object {
	out := *g
	g.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// ConvertTo sets the fields of the hub.
func (g *GaugeV2) ConvertTo(hub conversion.Hub) error {
	to := hub.(*Gauge)
	to.ObjectMeta, to.Spec.Celsius = g.ObjectMeta, g.Spec.Kelvin-273
	return nil
}

// ConvertFrom sets the fields of g from the hub.
func (g *GaugeV2) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*Gauge)
	g.ObjectMeta, g.Spec.Kelvin = from.ObjectMeta, from.Spec.Celsius+273
	return nil
}

// TestBuiltConversion converts with the webhook that controller-runtime's builder makes of a hub and a spoke.
func TestBuiltConversion(t *testing.T) {
	t.Parallel()
	known := runtime.NewScheme()
	v1, v2 := schema.GroupVersion{Group: "example.org", Version: "v1"}, schema.GroupVersion{Group: "example.org", Version: "v2"}
	known.AddKnownTypes(v1, &Gauge{})
	known.AddKnownTypeWithName(v2.WithKind("Gauge"), &GaugeV2{})
	metav1.AddToGroupVersion(known, v1)
	metav1.AddToGroupVersion(known, v2)

	mux := http.NewServeMux()
	s := apitest.Start(t, apitest.YAML(gauges), apitest.Conversion(mux, "gauges.example.org"))
	m, err := manager.New(s.RESTConfig(), manager.Options{
		Scheme: known, Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Port: -1, WebhookMux: mux}),
	})
	check(t, err)
	check(t, builder.WebhookManagedBy(m, &Gauge{}).Complete())
	c, err := client.New(s.RESTConfig(), client.Options{Scheme: known})
	check(t, err)

	ctx, key := t.Context(), client.ObjectKey{Namespace: "default", Name: "g"}
	made := &GaugeV2{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	made.Spec.Kelvin = 300
	check(t, c.Create(ctx, made))
	var stored Gauge
	check(t, c.Get(ctx, key, &stored))
	if stored.Spec.Celsius != 27 || made.Spec.Kelvin != 300 {
		t.Errorf("%d in v1 and %d in v2, want 27 and 300", stored.Spec.Celsius, made.Spec.Kelvin)
	}
	stored.Spec.Celsius = 0
	check(t, c.Update(ctx, &stored))
	var read GaugeV2
	check(t, c.Get(ctx, key, &read))
	if read.Spec.Kelvin != 273 {
		t.Errorf("%d in v2, want 273", read.Spec.Kelvin)
	}
}
