package serviceaccounts_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
)

// TestTracking deletes and spoils the ConfigMap that says since when tokens are tracked. It is created again half an hour after its creation.
func TestTracking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := servertest.Start(t, server.Config{})
		const path = "/api/v1/namespaces/kube-system/configmaps/kube-apiserver-legacy-service-account-token-tracking"
		shows := func(code int, since string) {
			t.Helper()
			if got, v := servertest.Send(t, s, http.MethodGet, path, ""); got != code || v.Get("data", "since").Str() != since {
				t.Errorf("%d %v, want %d and %s", got, v, code, since)
			}
		}
		today := time.Now().UTC().Format(time.DateOnly)
		shows(http.StatusOK, today)
		servertest.Send(t, s, http.MethodPatch, path, `{"data":{"since":"yesterday","other":"x"}}`)
		synctest.Wait()
		shows(http.StatusOK, today)
		servertest.Send(t, s, http.MethodPatch, path, `{"data":null}`)
		synctest.Wait()
		shows(http.StatusOK, today)
		servertest.Send(t, s, http.MethodDelete, path, "")
		time.Sleep(29 * time.Minute)
		shows(http.StatusNotFound, "")
		time.Sleep(2 * time.Minute)
		shows(http.StatusOK, today)
		time.Sleep(30 * time.Minute)
		servertest.Send(t, s, http.MethodDelete, path, "")
		synctest.Wait()
		shows(http.StatusOK, today)
	})
}
