// Shows the API's description and lets it be tried with the session of whoever is signed in.
const page = document.getElementById("api-docs");

window.SwaggerUIBundle({
  domNode: page,
  url: page.dataset.schema,
  layout: "BaseLayout",
  deepLinking: true,
  presets: [window.SwaggerUIBundle.presets.apis],
  requestInterceptor: (request) => {
    request.headers["X-CSRFToken"] = page.dataset.csrf;
    return request;
  },
});
