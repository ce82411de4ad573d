package crd

import (
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/deed-project/deed/server/catalog/builtin"
	"github.com/deed-project/deed/value"
)

// Load returns a stored definition in v1. kube-apiserver stores definitions in v1beta1.
//
// This server reads such definitions from an etcd that a kube-apiserver wrote to.
func Load(stored value.Value) (value.Value, error) {
	if stored.Get("apiVersion").Str() != "apiextensions.k8s.io/v1beta1" {
		return stored, nil
	}
	codec := definitionCodec()
	object, err := runtime.Decode(codec, stored.AppendJSON(nil))
	if err != nil {
		return stored, err
	}
	text, err := runtime.Encode(codec, object)
	if err != nil {
		return stored, err
	}
	return value.Parse(text)
}

// definitionCodec decodes definitions of all versions and encodes v1.
var definitionCodec = sync.OnceValue(func() runtime.Codec {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return serializer.NewCodecFactory(scheme).LegacyCodec(apiextensionsv1.SchemeGroupVersion)
})

// definitionForm is the form of definitions. It decodes the version in which kube-apiserver stores them.
type definitionForm struct{ builtin.Form }

// Load returns a stored definition in v1.
func (f *definitionForm) Load(stored value.Value) (value.Value, error) {
	stored, err := Load(stored)
	if err != nil {
		return stored, err
	}
	return f.Form.Load(stored)
}
