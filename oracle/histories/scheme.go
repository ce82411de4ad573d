package histories

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	appsv1beta1 "k8s.io/api/apps/v1beta1"
	appsv1beta2 "k8s.io/api/apps/v1beta2"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
)

// versionedScheme returns client-go's scheme with conversions between versions and some defaults, like kube-apiserver's. Client libraries
// have neither. Both engines use the same conversions, so their content does not matter to the comparison. It matters that they lose, move
// and rename fields.
var versionedScheme = sync.OnceValues(func() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	if err := clientscheme.AddToScheme(s); err != nil {
		return nil, err
	}
	deployments := []any{(*appsv1.Deployment)(nil), (*appsv1beta1.Deployment)(nil), (*appsv1beta2.Deployment)(nil)}
	for _, from := range deployments {
		for _, to := range deployments {
			if from == to {
				continue
			}
			if err := s.AddConversionFunc(from, to, byName); err != nil {
				return nil, err
			}
		}
	}
	v1, v2 := (*autoscalingv1.HorizontalPodAutoscaler)(nil), (*autoscalingv2.HorizontalPodAutoscaler)(nil)
	if err := s.AddConversionFunc(v1, v2, autoscalerToV2); err != nil {
		return nil, err
	}
	if err := s.AddConversionFunc(v2, v1, autoscalerToV1); err != nil {
		return nil, err
	}
	addDefaults(s)
	return s, nil
})

// byName converts fields to those of the same name, and drops fields that the other version lacks.
func byName(from, to any, _ conversion.Scope) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

// An autoscaler of version 1 has one metric. It keeps all others, and behavior, in annotations.
const (
	metricsAnnotation  = "autoscaling.alpha.kubernetes.io/metrics"
	behaviorAnnotation = "autoscaling.alpha.kubernetes.io/behavior"
)

func autoscalerToV2(from, to any, _ conversion.Scope) error {
	in, out := from.(*autoscalingv1.HorizontalPodAutoscaler), to.(*autoscalingv2.HorizontalPodAutoscaler)
	out.ObjectMeta = *in.ObjectMeta.DeepCopy()
	out.Spec.ScaleTargetRef = autoscalingv2.CrossVersionObjectReference(in.Spec.ScaleTargetRef)
	out.Spec.MinReplicas, out.Spec.MaxReplicas = in.Spec.MinReplicas, in.Spec.MaxReplicas
	if percent := in.Spec.TargetCPUUtilizationPercentage; percent != nil {
		out.Spec.Metrics = []autoscalingv2.MetricSpec{{Type: autoscalingv2.ResourceMetricSourceType, Resource: &autoscalingv2.ResourceMetricSource{
			Name: corev1.ResourceCPU, Target: autoscalingv2.MetricTarget{Type: autoscalingv2.UtilizationMetricType, AverageUtilization: percent},
		}}}
	}
	if text, ok := out.Annotations[metricsAnnotation]; ok {
		var others []autoscalingv2.MetricSpec
		if err := json.Unmarshal([]byte(text), &others); err == nil {
			out.Spec.Metrics = append(others, out.Spec.Metrics...)
		}
	}
	if text, ok := out.Annotations[behaviorAnnotation]; ok {
		var behavior autoscalingv2.HorizontalPodAutoscalerBehavior
		if err := json.Unmarshal([]byte(text), &behavior); err == nil {
			out.Spec.Behavior = &behavior
		}
	}
	delete(out.Annotations, metricsAnnotation)
	delete(out.Annotations, behaviorAnnotation)
	out.Status.ObservedGeneration, out.Status.LastScaleTime = in.Status.ObservedGeneration, in.Status.LastScaleTime
	out.Status.CurrentReplicas, out.Status.DesiredReplicas = in.Status.CurrentReplicas, in.Status.DesiredReplicas
	return nil
}

func autoscalerToV1(from, to any, _ conversion.Scope) error {
	in, out := from.(*autoscalingv2.HorizontalPodAutoscaler), to.(*autoscalingv1.HorizontalPodAutoscaler)
	out.ObjectMeta = *in.ObjectMeta.DeepCopy()
	out.Spec.ScaleTargetRef = autoscalingv1.CrossVersionObjectReference(in.Spec.ScaleTargetRef)
	out.Spec.MinReplicas, out.Spec.MaxReplicas = in.Spec.MinReplicas, in.Spec.MaxReplicas
	others := slices.Clone(in.Spec.Metrics)
	for i, m := range others {
		if r := m.Resource; r != nil && r.Name == corev1.ResourceCPU && r.Target.AverageUtilization != nil {
			out.Spec.TargetCPUUtilizationPercentage = r.Target.AverageUtilization
			others = slices.Delete(others, i, i+1)
			break
		}
	}
	if err := annotate(&out.ObjectMeta.Annotations, metricsAnnotation, others, len(others) > 0); err != nil {
		return err
	}
	if err := annotate(&out.ObjectMeta.Annotations, behaviorAnnotation, in.Spec.Behavior, in.Spec.Behavior != nil); err != nil {
		return err
	}
	out.Status.ObservedGeneration, out.Status.LastScaleTime = in.Status.ObservedGeneration, in.Status.LastScaleTime
	out.Status.CurrentReplicas, out.Status.DesiredReplicas = in.Status.CurrentReplicas, in.Status.DesiredReplicas
	return nil
}

func annotate(annotations *map[string]string, name string, v any, present bool) error {
	if !present {
		return nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if *annotations == nil {
		*annotations = map[string]string{}
	}
	(*annotations)[name] = string(text)
	return nil
}

func addDefaults(s *runtime.Scheme) {
	one := func() *int32 { n := int32(1); return &n }
	s.AddTypeDefaultingFunc(&appsv1.Deployment{}, func(obj any) {
		d := obj.(*appsv1.Deployment)
		if d.Spec.Replicas == nil {
			d.Spec.Replicas = one()
		}
		defaultContainers(&d.Spec.Template.Spec)
	})
	s.AddTypeDefaultingFunc(&appsv1beta1.Deployment{}, func(obj any) {
		defaultContainers(&obj.(*appsv1beta1.Deployment).Spec.Template.Spec)
	})
	s.AddTypeDefaultingFunc(&autoscalingv1.HorizontalPodAutoscaler{}, func(obj any) {
		if h := obj.(*autoscalingv1.HorizontalPodAutoscaler); h.Spec.MinReplicas == nil {
			h.Spec.MinReplicas = one()
		}
	})
	s.AddTypeDefaultingFunc(&corev1.Pod{}, func(obj any) { defaultContainers(&obj.(*corev1.Pod).Spec) })
	s.AddTypeDefaultingFunc(&corev1.Service{}, func(obj any) {
		svc := obj.(*corev1.Service)
		for i := range svc.Spec.Ports {
			if svc.Spec.Ports[i].Protocol == "" {
				svc.Spec.Ports[i].Protocol = corev1.ProtocolTCP
			}
		}
		if svc.Spec.Type == "" {
			svc.Spec.Type = corev1.ServiceTypeClusterIP
		}
	})
}

func defaultContainers(spec *corev1.PodSpec) {
	if spec.RestartPolicy == "" {
		spec.RestartPolicy = corev1.RestartPolicyAlways
	}
	for i := range spec.Containers {
		c := &spec.Containers[i]
		if c.ImagePullPolicy == "" && strings.HasSuffix(c.Image, ":latest") {
			c.ImagePullPolicy = corev1.PullAlways
		}
		for j := range c.Ports {
			if c.Ports[j].Protocol == "" {
				c.Ports[j].Protocol = corev1.ProtocolTCP
			}
		}
	}
}
