package apitest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/deed-project/deed/server/apitest"
)

var widgetsResource = schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "widgets"}

// start starts a server with widgets, and returns a client for the widgets in namespace default.
func start(t *testing.T, with ...apitest.Option) (*apitest.Server, dynamic.ResourceInterface) {
	t.Helper()
	s := apitest.Start(t, append([]apitest.Option{apitest.CRDs("testdata/widgets.yaml")}, with...)...)
	client, err := dynamic.NewForConfig(s.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return s, client.Resource(widgetsResource).Namespace("default")
}

func widget(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Widget", "metadata": map[string]any{"name": name}, "spec": spec,
	}}
}

// must returns v, and fails the test on an error.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestWrites uses each verb on one object through the dynamic client.
func TestWrites(t *testing.T) {
	t.Parallel()
	_, widgets := start(t)
	ctx, ok := t.Context(), must[*unstructured.Unstructured](t)
	created := ok(widgets.Create(ctx, widget("web", map[string]any{"color": "red"}), metav1.CreateOptions{}))
	if n, _, _ := unstructured.NestedInt64(created.Object, "spec", "replicas"); n != 1 {
		t.Errorf("the default of spec.replicas is not filled in: %v", created.Object["spec"])
	}
	if created.GetUID() == "" || created.GetGeneration() != 1 || created.GetResourceVersion() == "" {
		t.Errorf("metadata is not filled in: %v", created.Object["metadata"])
	}
	if _, err := widgets.Create(ctx, widget("web", nil), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("the second create: %v", err)
	}

	changed := created.DeepCopy()
	changed.Object["spec"] = map[string]any{"replicas": int64(2)}
	updated := ok(widgets.Update(ctx, changed, metav1.UpdateOptions{}))
	if updated.GetGeneration() != 2 {
		t.Errorf("the generation is %d after an update of the spec", updated.GetGeneration())
	}
	if _, err := widgets.Update(ctx, changed, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		t.Errorf("an update from an old version: %v", err)
	}
	same := ok(widgets.Update(ctx, updated, metav1.UpdateOptions{}))
	if same.GetResourceVersion() != updated.GetResourceVersion() {
		t.Error("an update that changes nothing was stored")
	}

	updated.Object["status"] = map[string]any{"replicas": int64(7)}
	status := ok(widgets.UpdateStatus(ctx, updated, metav1.UpdateOptions{}))
	if n, _, _ := unstructured.NestedInt64(status.Object, "status", "replicas"); n != 7 || status.GetGeneration() != 2 {
		t.Errorf("after an update of the status: %v", status.Object)
	}
	if err := widgets.Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := widgets.Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("get after delete: %v", err)
	}
}

// TestApply applies as two managers: a conflict, force, and a dry run that stores nothing.
func TestApply(t *testing.T) {
	t.Parallel()
	_, widgets := start(t)
	ctx, ok := t.Context(), must[*unstructured.Unstructured](t)
	ok(widgets.Apply(ctx, "web", widget("web", map[string]any{"color": "red"}), metav1.ApplyOptions{FieldManager: "a"}))
	blue := widget("web", map[string]any{"color": "blue"})
	_, err := widgets.Apply(ctx, "web", blue, metav1.ApplyOptions{FieldManager: "b"})
	if want := `Apply failed with 1 conflict: conflict with "a": .spec.color`; err == nil || err.Error() != want {
		t.Errorf("a conflict says %v, want %s", err, want)
	}
	before := ok(widgets.Get(ctx, "web", metav1.GetOptions{}))
	dry := metav1.ApplyOptions{FieldManager: "b", Force: true, DryRun: []string{metav1.DryRunAll}}
	rehearsed := ok(widgets.Apply(ctx, "web", blue, dry))
	if color, _, _ := unstructured.NestedString(rehearsed.Object, "spec", "color"); color != "blue" {
		t.Errorf("the dry run answers with color %q", color)
	}
	after := ok(widgets.Get(ctx, "web", metav1.GetOptions{}))
	if after.GetResourceVersion() != before.GetResourceVersion() {
		t.Error("a dry run was stored")
	}
	forced := ok(widgets.Apply(ctx, "web", blue, metav1.ApplyOptions{FieldManager: "b", Force: true}))
	if got := len(forced.GetManagedFields()); got != 1 {
		t.Errorf("%d managers are left after b took the only field of a", got)
	}
}

// TestRefusals sends invalid requests and expects the texts of an API server.
func TestRefusals(t *testing.T) {
	t.Parallel()
	_, widgets := start(t)
	for _, c := range []struct {
		object *unstructured.Unstructured
		want   string
	}{
		{widget("A_b", nil), `Widget.example.org "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain`},
		{widget("", nil), `metadata.name: Required value: name or generateName is required`},
		{widget("w", map[string]any{"replicas": int64(-1)}), "spec.replicas in body should be greater than or equal to 0"},
		{widget("w", map[string]any{"replicas": int64(11)}), "spec: Invalid value: at most ten replicas"},
		{widget("w", map[string]any{"color": "green"}), `spec.color: Unsupported value: "green": supported values: "red", "blue"`},
	} {
		_, err := widgets.Create(t.Context(), c.object, metav1.CreateOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.object.Object, err, c.want)
		}
	}
	strict := metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict}
	_, err := widgets.Create(t.Context(), widget("w", map[string]any{"colour": "red"}), strict)
	if want := `strict decoding error: unknown field "spec.colour"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an unknown field: %v, want %s", err, want)
	}
}

// TestFinalizers deletes an object with a finalizer, and then removes the finalizer.
func TestFinalizers(t *testing.T) {
	t.Parallel()
	_, widgets := start(t)
	ctx, ok := t.Context(), must[*unstructured.Unstructured](t)
	held := widget("web", nil)
	held.SetFinalizers([]string{"example.org/hold"})
	ok(widgets.Create(ctx, held, metav1.CreateOptions{}))
	if err := widgets.Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	waiting := ok(widgets.Get(ctx, "web", metav1.GetOptions{}))
	if waiting.GetDeletionTimestamp() == nil || waiting.GetGeneration() != 2 {
		t.Errorf("a deleted object that waits has %v", waiting.Object["metadata"])
	}
	waiting.SetFinalizers(nil)
	ok(widgets.Update(ctx, waiting, metav1.UpdateOptions{}))
	if _, err := widgets.Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("without finalizers: %v", err)
	}
}

// TestLists lists by page and by selector.
func TestLists(t *testing.T) {
	t.Parallel()
	_, widgets := start(t)
	ctx, list := t.Context(), must[*unstructured.UnstructuredList](t)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		w := widget(name, map[string]any{"color": map[bool]string{true: "red", false: "blue"}[name < "c"]})
		w.SetLabels(map[string]string{"name": name})
		must[*unstructured.Unstructured](t)(widgets.Create(ctx, w, metav1.CreateOptions{}))
	}
	var names []string
	for options := (metav1.ListOptions{Limit: 2}); ; {
		page := list(widgets.List(ctx, options))
		for _, item := range page.Items {
			names = append(names, item.GetName())
		}
		if options.Continue = page.GetContinue(); options.Continue == "" {
			break
		}
	}
	if got := strings.Join(names, ""); got != "abcde" {
		t.Errorf("the pages hold %s", got)
	}
	if n := len(list(widgets.List(ctx, metav1.ListOptions{LabelSelector: "name in (a,e)"})).Items); n != 2 {
		t.Errorf("%d objects have one of two labels", n)
	}
	if n := len(list(widgets.List(ctx, metav1.ListOptions{FieldSelector: "spec.color=blue"})).Items); n != 3 {
		t.Errorf("%d objects are blue", n)
	}
	if _, err := widgets.List(ctx, metav1.ListOptions{FieldSelector: "spec.size=1"}); !apierrors.IsBadRequest(err) {
		t.Errorf("a field that cannot be selected by: %v", err)
	}
	if err := widgets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "name!=a"}); err != nil {
		t.Fatal(err)
	}
	if n := len(list(widgets.List(ctx, metav1.ListOptions{})).Items); n != 1 {
		t.Errorf("%d objects are left of one", n)
	}
}

// TestInformer lets a shared informer follow existing and new objects.
func TestInformer(t *testing.T) {
	t.Parallel()
	s, widgets := start(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ok := must[*unstructured.Unstructured](t)
	ok(widgets.Create(ctx, widget("before", nil), metav1.CreateOptions{}))
	factory := dynamicinformer.NewDynamicSharedInformerFactory(dynamic.NewForConfigOrDie(s.RESTConfig()), 0)
	informer := factory.ForResource(widgetsResource).Informer()
	events := make(chan string, 10)
	name := func(o any) string {
		if u, isObject := o.(*unstructured.Unstructured); isObject {
			return u.GetName()
		}
		return "?"
	}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(o any) { events <- "add " + name(o) },
		UpdateFunc: func(_, o any) { events <- "update " + name(o) },
		DeleteFunc: func(o any) { events <- "delete " + name(o) },
	}
	if _, err := informer.AddEventHandler(handler); err != nil {
		t.Fatal(err)
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	defer cancel()
	expect := func(want string) {
		t.Helper()
		select {
		case got := <-events:
			if got != want {
				t.Errorf("the informer says %s, want %s", got, want)
			}
		case <-ctx.Done():
			t.Fatalf("the informer does not say %s", want)
		}
	}
	expect("add before")
	after := ok(widgets.Create(ctx, widget("after", nil), metav1.CreateOptions{}))
	expect("add after")
	after.SetLabels(map[string]string{"x": "y"})
	ok(widgets.Update(ctx, after, metav1.UpdateOptions{}))
	expect("update after")
	if err := widgets.Delete(ctx, "after", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("delete after")
}

// TestNamespaces uses the typed client, which sends protobuf, to create, fill and delete a namespace.
func TestNamespaces(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	ctx := t.Context()
	clients := kubernetes.NewForConfigOrDie(s.RESTConfig())
	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	created := must[*corev1.Namespace](t)(clients.CoreV1().Namespaces().Create(ctx, shop, metav1.CreateOptions{}))
	if created.Status.Phase != corev1.NamespaceActive || created.Labels[corev1.LabelMetadataName] != "shop" {
		t.Errorf("a new namespace: %+v", created)
	}
	widgets := dynamic.NewForConfigOrDie(s.RESTConfig()).Resource(widgetsResource)
	_, err := widgets.Namespace("nowhere").Create(ctx, widget("web", nil), metav1.CreateOptions{})
	if want := `namespaces "nowhere" not found`; err == nil || err.Error() != want {
		t.Errorf("create in no namespace: %v, want %s", err, want)
	}
	must[*unstructured.Unstructured](t)(widgets.Namespace("shop").Create(ctx, widget("web", nil), metav1.CreateOptions{}))
	gone := watchUntilDeleted(t, clients, "shop")
	if err := clients.CoreV1().Namespaces().Delete(ctx, "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	<-gone
	if _, err := widgets.Namespace("shop").Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the content of a deleted namespace: %v", err)
	}
	if err := clients.CoreV1().Namespaces().Delete(ctx, "default", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("delete of namespace default: %v", err)
	}
}

// watchUntilDeleted watches a namespace, and closes the returned channel when the namespace is gone.
func watchUntilDeleted(t *testing.T, clients kubernetes.Interface, name string) <-chan struct{} {
	t.Helper()
	watch, err := clients.CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer watch.Stop()
		for event := range watch.ResultChan() {
			if event.Type == "DELETED" {
				return
			}
		}
	}()
	return done
}

// TestDiscovery reads discovery in the aggregated form and by group, and follows a new definition.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t)
	client := discovery.NewDiscoveryClientForConfigOrDie(s.RESTConfig())
	if _, err := client.ServerResourcesForGroupVersion("example.org/v1"); err == nil {
		t.Error("widgets are served before they are defined")
	}
	s2, _ := start(t)
	client = discovery.NewDiscoveryClientForConfigOrDie(s2.RESTConfig())
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, list := range lists {
		for _, resource := range list.APIResources {
			names = append(names, list.GroupVersion+" "+resource.Name)
		}
	}
	all := strings.Join(names, ", ")
	for _, want := range []string{
		"v1 namespaces", "apiextensions.k8s.io/v1 customresourcedefinitions", "example.org/v1 widgets",
		"example.org/v1 widgets/status", "example.org/v1 widgets/scale",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("discovery lacks %s: %s", want, all)
		}
	}
	if _, err := client.OpenAPIV3().Paths(); err != nil {
		t.Error(err)
	}
	if v, err := client.ServerVersion(); err != nil || v.Minor != "37" {
		t.Errorf("the version is %v, %v", v, err)
	}
}

// TestDefinition deletes a definition and its objects.
func TestDefinition(t *testing.T) {
	t.Parallel()
	s, widgets := start(t)
	ctx := t.Context()
	must[*unstructured.Unstructured](t)(widgets.Create(ctx, widget("web", nil), metav1.CreateOptions{}))
	definitions := dynamic.NewForConfigOrDie(s.RESTConfig()).Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	watch, err := definitions.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	if err := definitions.Delete(ctx, "widgets.example.org", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for event := range watch.ResultChan() {
		if event.Type == "DELETED" {
			break
		}
	}
	if _, err := widgets.Get(ctx, "web", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("an object of a deleted definition: %v", err)
	}
}

// TestExpire makes resource versions too old.
func TestExpire(t *testing.T) {
	t.Parallel()
	s, widgets := start(t)
	ctx := t.Context()
	list := must[*unstructured.UnstructuredList](t)(widgets.List(ctx, metav1.ListOptions{}))
	for _, name := range []string{"a", "b"} {
		must[*unstructured.Unstructured](t)(widgets.Create(ctx, widget(name, nil), metav1.CreateOptions{}))
	}
	s.Expire()
	watch, err := widgets.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		t.Fatal(err)
	}
	defer watch.Stop()
	event := <-watch.ResultChan()
	if err := apierrors.FromObject(event.Object); !apierrors.IsResourceExpired(err) {
		t.Errorf("a watch from an old version begins with %s: %v", event.Type, err)
	}
}

// TestKubeconfig reaches a server through its port.
func TestKubeconfig(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	list, err := dynamic.NewForConfigOrDie(config).Resource(widgetsResource).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 0 {
		t.Errorf("over the network: %v, %v", list, err)
	}
}

// TestWrap refuses the first request of a client.
func TestWrap(t *testing.T) {
	t.Parallel()
	refused := false
	_, widgets := start(t, apitest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !refused {
				refused = true
				http.Error(w, "not now", http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(w, r)
		})
	}))
	_, err := widgets.List(t.Context(), metav1.ListOptions{})
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusServiceUnavailable {
		t.Errorf("the first request: %v", err)
	}
	if _, err := widgets.List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Error(err)
	}
}

// TestAbandoned cancels a request. The handler must end although nothing reads its answer.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	served := make(chan struct{})
	s := apitest.Start(t, apitest.Wrap(func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(served)
			<-r.Context().Done()
			if _, err := w.Write([]byte("too late")); err == nil {
				t.Error("a write to a cancelled request succeeds")
			}
		})
	}))
	ctx, cancel := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://deed.invalid/version", nil)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-served
		cancel()
	}()
	if answer, err := s.Transport().RoundTrip(request); !errors.Is(err, context.Canceled) {
		t.Errorf("the answer is %v, %v", answer, err)
	}
}
