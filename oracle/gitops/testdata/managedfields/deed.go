package testing

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"

	"github.com/deed-project/deed/kube"
)

// This file puts kube.FieldManager in the place of the field manager that the tests use.

// fieldManager has the methods of both field managers.
type fieldManager interface {
	Apply(liveObj, appliedObj runtime.Object, manager string, force bool) (runtime.Object, error)
	Update(liveObj, newObj runtime.Object, manager string) (runtime.Object, error)
	UpdateNoErrors(liveObj, newObj runtime.Object, manager string) runtime.Object
}

// newDeed returns the manager of a test with deed's field manager.
func newDeed(typeConverter managedfields.TypeConverter, gvk schema.GroupVersionKind, subresource string) *TestFieldManagerImpl {
	m, err := kube.NewDefaultFieldManager(typeConverter, &FakeObjectConvertor{}, &FakeObjectDefaulter{}, &FakeObjectCreater{}, gvk,
		gvk.GroupVersion(), subresource, nil)
	if err != nil {
		panic(err)
	}
	live := &unstructured.Unstructured{}
	live.SetKind(gvk.Kind)
	live.SetAPIVersion(gvk.GroupVersion().String())
	return &TestFieldManagerImpl{fieldManager: m, apiVersion: gvk.GroupVersion().String(), emptyObj: live, liveObj: live.DeepCopyObject()}
}
