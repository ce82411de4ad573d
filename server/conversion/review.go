package conversion

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/server/hookclient"
	"github.com/deed-project/deed/value"
)

// The protocol of conversion webhooks: a review with all objects, a uid, and the wanted version goes out, and comes back with the converted
// objects.

// ask sends objects to the webhook and returns the converted ones.
//
// The error names the kind of the first object, as kube-apiserver's does.
func (w *Webhook) ask(objects []value.Value, apiVersion string) ([]runtime.RawExtension, error) {
	uid := types.UID(api.NewUID())
	question, answer, err := w.review(uid, objects, apiVersion)
	if err != nil {
		return nil, err
	}
	client, err := w.clients.HookClient(w.at)
	if err == nil {
		err = client.Post().Body(question).Do(hookclient.Quiet(w.ctx)).Into(answer)
	}
	var converted []runtime.RawExtension
	if err == nil {
		converted, err = convertedIn(answer, uid)
	}
	if err != nil {
		return nil, fmt.Errorf("conversion webhook for %v failed: %v", kindOf(objects[0]), err) // not wrapped: the Status of the webhook is not the Status of the request
	}
	return converted, nil
}

// review returns a request, and the target that its answer decodes into. It uses the first ConversionReview version of the webhook that is
// supported.
func (w *Webhook) review(uid types.UID, objects []value.Value, apiVersion string) (question, answer runtime.Object, err error) {
	raw := make([]runtime.RawExtension, len(objects))
	for i, object := range objects {
		raw[i].Raw = object.AppendJSON(nil)
	}
	for _, version := range w.reviews {
		switch version {
		case apiextensionsv1.SchemeGroupVersion.Version:
			return &apiextensionsv1.ConversionReview{
				Request:  &apiextensionsv1.ConversionRequest{UID: uid, DesiredAPIVersion: apiVersion, Objects: raw},
				Response: &apiextensionsv1.ConversionResponse{}, // kube-apiserver sends it too, empty
			}, &apiextensionsv1.ConversionReview{}, nil
		case apiextensionsv1beta1.SchemeGroupVersion.Version:
			return &apiextensionsv1beta1.ConversionReview{
				Request:  &apiextensionsv1beta1.ConversionRequest{UID: uid, DesiredAPIVersion: apiVersion, Objects: raw},
				Response: &apiextensionsv1beta1.ConversionResponse{},
			}, &apiextensionsv1beta1.ConversionReview{}, nil
		}
	}
	return nil, nil, errors.New("no supported conversion review versions")
}

var errNoResponse = errors.New("no response provided")

// convertedIn returns the objects of an answer. A v1 answer must have the uid and the kind of the request; a v1beta1 answer need not.
//
// A result that is no success may come with objects, which do not count.
func convertedIn(answer runtime.Object, uid types.UID) ([]runtime.RawExtension, error) {
	switch answer := answer.(type) {
	case *apiextensionsv1.ConversionReview:
		want := apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview")
		switch {
		case answer.GroupVersionKind() != want:
			return nil, fmt.Errorf("expected webhook response of %v, got %v", want, answer.GroupVersionKind())
		case answer.Response == nil:
			return nil, errNoResponse
		case answer.Response.UID != uid:
			return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, answer.Response.UID)
		}
		return answer.Response.ConvertedObjects, succeeded(answer.Response.Result)
	case *apiextensionsv1beta1.ConversionReview:
		if answer.Response == nil {
			return nil, errNoResponse
		}
		return answer.Response.ConvertedObjects, succeeded(answer.Response.Result)
	}
	return nil, fmt.Errorf("unrecognized response type: %T", answer)
}

// succeeded returns the error in a result.
func succeeded(result metav1.Status) error {
	switch {
	case result.Status == metav1.StatusSuccess:
		return nil
	case result.Message != "":
		return errors.New(result.Message)
	}
	return fmt.Errorf("response.result.status was '%s', not 'Success'", result.Status)
}
