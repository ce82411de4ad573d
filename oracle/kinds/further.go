package kinds

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/applyconfiguration"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
	aggregator "k8s.io/kube-aggregator/pkg/client/applyconfiguration"
)

// further makes the sources beside client-go. Package oracle/releases replaces this file: older releases publish fewer sources.
var further = []func() Source{definitions, services}

// definitions has the kind CustomResourceDefinition.
func definitions() Source {
	crds := runtime.NewScheme()
	utilruntime.Must(apiextensionsv1.AddToScheme(crds))
	utilruntime.Must(apiextensionsv1beta1.AddToScheme(crds))
	return Source{crds, apiextensions.NewTypeConverter(crds)}
}

// services has the kind APIService.
func services() Source {
	scheme := runtime.NewScheme()
	utilruntime.Must(apiregistrationv1.AddToScheme(scheme))
	utilruntime.Must(apiregistrationv1beta1.AddToScheme(scheme))
	return Source{scheme, aggregator.NewTypeConverter(scheme)}
}
