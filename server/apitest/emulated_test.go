package apitest_test

import (
	"testing"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/deed-project/deed/server/apitest"
)

// TestEmulatedVersion asks servers of two releases for their version, and creates an autoscaler without replicas, which is valid since v1.37.
func TestEmulatedVersion(t *testing.T) {
	for release, valid := range map[string]bool{"1.36": false, "1.37": true} {
		client := kubernetes.NewForConfigOrDie(apitest.Start(t, apitest.EmulatedVersion(release)).RESTConfig())
		version, err := client.Discovery().ServerVersion()
		if err != nil || version.EmulationMajor+"."+version.EmulationMinor != release {
			t.Errorf("%s emulates %v, %v", release, version, err)
		}
		none := int32(0)
		_, err = client.AutoscalingV2().HorizontalPodAutoscalers("default").Create(t.Context(), &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: "web"},
			Spec: autoscalingv2.HorizontalPodAutoscalerSpec{
				MinReplicas: &none, MaxReplicas: 3,
				ScaleTargetRef: autoscalingv2.CrossVersionObjectReference{APIVersion: "apps/v1", Kind: "Deployment", Name: "web"},
				Metrics: []autoscalingv2.MetricSpec{{
					Type: autoscalingv2.ExternalMetricSourceType, External: &autoscalingv2.ExternalMetricSource{
						Metric: autoscalingv2.MetricIdentifier{Name: "queue"},
						Target: autoscalingv2.MetricTarget{Type: autoscalingv2.AverageValueMetricType, AverageValue: new(resource.MustParse("1"))},
					},
				}},
			},
		}, metav1.CreateOptions{})
		if valid && err != nil || !valid && !errors.IsInvalid(err) {
			t.Errorf("%s answers %v", release, err)
		}
	}
}
