{{- define "tidewatch.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "tidewatch.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tidewatch.labels" -}}
{{ include "tidewatch.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* A mounted file: a text as it is, a mapping as YAML whose on and off are words again. */}}
{{- define "tidewatch.file" -}}
{{- if kindIs "string" .file }}{{ .file }}{{ else }}
{{- include "tidewatch.keys" (dict "name" .name "at" .name "value" .file) }}
{{- $off := regexReplaceAll "(?m)^([ -]*(?:false_alarms|idle_limit|profile|silence_after): )false$" (toYaml .file) "${1}\"off\"" }}
{{- regexReplaceAll "(?m)^([ -]*profile: )true$" $off "${1}\"on\"" }}
{{- end }}
{{- end }}

{{/* Helm reads the words on, off, yes and no as true and false, keys included: what was written is no longer known. */}}
{{- define "tidewatch.keys" -}}
{{- range $key, $value := .value }}
{{- $at := kindIs "map" $.value | ternary (printf "%s.%v" $.at $key) (printf "%s[%v]" $.at $key) }}
{{- if has $key (list "true" "false") }}
{{- fail (printf "%s: YAML 1.1 reads the keys on, off, yes and no as %s: quote it, as in \"on\":, or give the file as text: --set-file %s=FILE" $at $key $.name) }}
{{- end }}
{{- if or (kindIs "map" $value) (kindIs "slice" $value) }}
{{- include "tidewatch.keys" (dict "name" $.name "at" $at "value" $value) }}
{{- end }}
{{- end }}
{{- end }}

{{/* Ports that pods connect to: those that are listed, and those of brokers, URLs and mail servers of settings and routes. */}}
{{- define "tidewatch.egress" -}}
{{- $ports := list "53" }}
{{- $routes := .Values.routes }}
{{- if kindIs "string" $routes }}
{{- $routes = fromYaml $routes }}
{{- with $routes.Error }}{{ fail (printf "routes: the text is no mapping of YAML: %s" .) }}{{ end }}
{{- end }}
{{- range .Values.networkPolicy.toPorts }}
{{- $ports = append $ports (toString .) }}
{{- end }}
{{- range regexFindAll ":[0-9]+" (toString .Values.settings.KAFKA_BROKERS) -1 }}
{{- $ports = append $ports (trimPrefix ":" .) }}
{{- end }}
{{- range regexFindAll "https?://[^/\"\\\\?#, ]+" (toJson (list .Values.settings $routes)) -1 }}
{{- $ports = append $ports (regexFind "[0-9]+$" (regexFind ":[0-9]+$" .) | default (hasPrefix "https:" . | ternary "443" "80")) }}
{{- end }}
{{- range $routes.receivers }}
{{- with .email }}
{{- $ports = append $ports (toString (default (get (dict "implicit" 465 "none" 25) (default "starttls" .tls) | default 587) .port)) }}
{{- end }}
{{- end }}
{{- $ports | uniq | join " " }}
{{- end }}

{{/* What the pods of all components have: { root, component, args, env, volumes, resources }. */}}
{{- define "tidewatch.pod" -}}
{{- $root := .root }}
metadata:
  labels:
    {{- include "tidewatch.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    checksum/config: {{ include (print $root.Template.BasePath "/config.yaml") $root | sha256sum }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- /* Beyond what the process takes at most. */}}
  {{- $ends := add (int (default 10000 $root.Values.settings.SHUTDOWN_MS_MAX)) (int (default 5000 $root.Values.settings.DRAIN_MS)) }}
  terminationGracePeriodSeconds: {{ max 30 (add 10 (div $ends 1000)) }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets: {{- range . }}
    - name: {{ . }}{{ end }}
  {{- end }}
  {{- with $root.Values.nodeSelector }}
  nodeSelector: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.tolerations }}
  tolerations: {{ toYaml . | nindent 4 }}
  {{- end }}
  {{- if .spread }}
  topologySpreadConstraints:
    {{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ . }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "tidewatch.selector" $root | nindent 10 }}
          app.kubernetes.io/component: {{ $.component }}
    {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  {{- if .once }}
  restartPolicy: OnFailure
  {{- end }}
  containers:
    - name: {{ .component }}
      image: {{ printf "%s:%s" $root.Values.image.repository (default $root.Chart.AppVersion $root.Values.image.tag) | quote }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: {{ concat (list "node" "src/main.ts") .args | toJson }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      env:
        - { name: OPS_HOST, value: 0.0.0.0 }
        - { name: HTTP_HOST, value: 0.0.0.0 }
        - { name: DATA_DIR, value: /data }
        - { name: NODE_COMPILE_CACHE, value: /tmp/compiled }
        - { name: DETECTORS, value: /etc/tidewatch/detectors.yaml }
        {{- if eq .component "alerts" }}
        - { name: ROUTES, value: /etc/tidewatch/routes.yaml }
        {{- end }}
        {{- if eq .component "worker" }}
        - name: KAFKA_GROUP_INSTANCE_ID
          valueFrom: { fieldRef: { fieldPath: metadata.name } }
        {{- end }}
        {{- /* As many as are requested: a node has more processors, and each thread takes memory. */}}
        {{- if and (has .component (list "worker" "serve")) (dig "requests" "cpu" "" (default dict .resources)) (not (hasKey $root.Values.settings "INFERENCE_THREADS")) }}
        - name: INFERENCE_THREADS
          valueFrom: { resourceFieldRef: { resource: requests.cpu } }
        {{- end }}
        {{- range $name, $value := $root.Values.settings }}
        - { name: {{ $name }}, value: {{ kindIs "float64" $value | ternary (printf "%v" (int64 $value)) ($value | toString) | quote }} }
        {{- end }}
      {{- with $root.Values.secrets }}
      envFrom:
        {{- range . }}
        - secretRef: { name: {{ . }} }
        {{- end }}
      {{- end }}
      {{- with .resources }}
      resources: {{ toYaml . | nindent 8 }}
      {{- end }}
      {{- if not .once }}
      ports:
        - { name: ops, containerPort: 9464 }
        {{- if .http }}
        - { name: http, containerPort: 8080 }
        {{- end }}
        {{- if eq .component "receive" }}
        - { name: grpc, containerPort: 4317 }
        {{- end }}
      # A start reads back the state of its partitions; it is alive from its first second and ready behind that.
      livenessProbe:
        httpGet: { path: /healthz, port: ops }
        initialDelaySeconds: 20
        periodSeconds: 10
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /readyz, port: ops }
        periodSeconds: 5
      {{- end }}
      volumeMounts:
        - { name: config, mountPath: /etc/tidewatch, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
        {{- range $root.Values.secretFiles }}
        - { name: {{ printf "secret-%s" . | replace "." "-" }}, mountPath: {{ printf "/run/secrets/%s" . | quote }}, readOnly: true }
        {{- end }}
  volumes:
    - name: config
      configMap: { name: {{ include "tidewatch.name" $root }} }
    - name: tmp
      emptyDir: {}
    {{- range $root.Values.secretFiles }}
    - name: {{ printf "secret-%s" . | replace "." "-" }}
      secret: { secretName: {{ . | quote }} }
    {{- end }}
    {{- if not .keeps }}
    - name: data
      emptyDir: {}
    {{- end }}
{{- end }}
