package controllers_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/deed-project/deed/server/apitest"
)

// startCache starts a cache of a server's objects that ends with the test.
func startCache(t *testing.T, s *apitest.Server, prepare func(cache.Cache)) cache.Cache {
	t.Helper()
	objects, err := cache.New(s.RESTConfig(), cache.Options{Scheme: scheme})
	check(t, err)
	prepare(objects)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- objects.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if !objects.WaitForCacheSync(ctx) {
		t.Fatal("the cache was not filled")
	}
	return objects
}

// TestCache reads from informers: of a custom type with a client-side index, of a built-in type, and of metadata alone.
func TestCache(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	ctx := t.Context()
	for i, color := range []string{"red", "blue", "red"} {
		check(t, c.Create(ctx, newWidget("w"+strconv.Itoa(i), color, int32(i))))
	}
	check(t, c.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "default"}}))
	objects := startCache(t, s, func(objects cache.Cache) {
		check(t, objects.IndexField(ctx, &Widget{}, "size", func(o client.Object) []string {
			return []string{strconv.Itoa(int(*o.(*Widget).Spec.Replicas))}
		}))
	})

	var found WidgetList
	check(t, objects.List(ctx, &found, client.MatchingFields{"size": "2"}))
	if len(found.Items) != 1 || found.Items[0].Name != "w2" {
		t.Errorf("by the index: %+v", found.Items)
	}
	var settings corev1.ConfigMap
	check(t, objects.Get(ctx, client.ObjectKey{Namespace: "default", Name: "settings"}, &settings))
	partial := &metav1.PartialObjectMetadataList{}
	partial.SetGroupVersionKind(widgets.WithKind("WidgetList"))
	check(t, objects.List(ctx, partial))
	if len(partial.Items) != 3 || partial.Items[0].UID == "" {
		t.Errorf("the metadata alone: %+v", partial.Items)
	}
}

// TestCacheFollows lets an informer follow an object, and recover after its resource version is too old.
func TestCacheFollows(t *testing.T) {
	t.Parallel()
	s, c := start(t)
	ctx := t.Context()
	events := make(chan string, 16)
	tell := func(what watch.EventType, o any) { events <- string(what) + " " + o.(*Widget).Name }
	startCache(t, s, func(objects cache.Cache) {
		informer, err := objects.GetInformer(ctx, &Widget{}, cache.BlockUntilSynced(false))
		check(t, err)
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
			AddFunc:    func(o any) { tell(watch.Added, o) },
			UpdateFunc: func(_, o any) { tell(watch.Modified, o) },
			DeleteFunc: func(o any) { tell(watch.Deleted, o) },
		})
		check(t, err)
	})
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-events:
			if got != want {
				t.Errorf("the informer says %s, want %s", got, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("the informer does not say %s", want)
		}
	}
	web := newWidget("web", "red", 1)
	check(t, c.Create(ctx, web))
	expect("ADDED web")
	web.Spec.Color = "blue"
	check(t, c.Update(ctx, web))
	expect("MODIFIED web")
	s.Expire()
	check(t, c.Delete(ctx, web))
	expect("DELETED web")
}
