package apitest_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"

	"github.com/deed-project/deed/server/apitest"
)

// TestProtobuf uses a typed client that only accepts protobuf: objects, lists, refusals and watch events.
func TestProtobuf(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t)
	config := s.RESTConfig()
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	ctx, maps := t.Context(), kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	ok := must[*corev1.ConfigMap](t)
	created := ok(maps.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "v"}, BinaryData: map[string][]byte{"b": {0, 1}},
	}, metav1.CreateOptions{}))
	if created.UID == "" || created.Data["k"] != "v" || string(created.BinaryData["b"]) != "\x00\x01" || len(created.ManagedFields) != 1 {
		t.Errorf("created: %+v", created)
	}
	_, err := maps.Get(ctx, "b", metav1.GetOptions{})
	if want := `configmaps "b" not found`; !apierrors.IsNotFound(err) || err.Error() != want {
		t.Errorf("what is not there: %v, want %s", err, want)
	}
	list := must[*corev1.ConfigMapList](t)(maps.List(ctx, metav1.ListOptions{}))
	if len(list.Items) != 1 || list.Items[0].Data["k"] != "v" || list.ResourceVersion == "" {
		t.Errorf("the list: %+v", list)
	}
	events, err := maps.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Stop()
	ok(maps.Patch(ctx, "a", types.MergePatchType, []byte(`{"data":{"k":"w"}}`), metav1.PatchOptions{}))
	for _, want := range []struct {
		typ  watch.EventType
		data string
	}{{watch.Added, "v"}, {watch.Modified, "w"}} {
		got := <-events.ResultChan()
		if m, isMap := got.Object.(*corev1.ConfigMap); !isMap || got.Type != want.typ || m.Data["k"] != want.data {
			t.Errorf("event %s of %+v, want %+v", got.Type, got.Object, want)
		}
	}
	partial := must[*metav1.PartialObjectMetadataList](t)(metadata.NewForConfigOrDie(s.RESTConfig()).
		Resource(corev1.SchemeGroupVersion.WithResource("configmaps")).Namespace("default").List(ctx, metav1.ListOptions{}))
	if len(partial.Items) != 1 || partial.Items[0].UID != created.UID {
		t.Errorf("the list of metadata: %+v", partial)
	}
}
