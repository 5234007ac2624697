// A sky with a horizon, and the haze in which the land is lost.

import { BackSide, Color, Fog, Mesh, type Scene as World, ShaderMaterial, SphereGeometry, type Vector3 } from "three";
import type { Theme } from "./theme";

const RADIUS = 900;
/** Haze begins and hides everything at these distances in m. */
const HAZE = [120, 820];

export class Sky {
  private readonly fog = new Fog("#ffffff", HAZE[0], HAZE[1]);
  private readonly material: ShaderMaterial;
  private readonly dome: Mesh;

  constructor(private readonly world: World, up: Vector3) {
    this.material = new ShaderMaterial({
      side: BackSide,
      depthWrite: false,
      fog: false,
      uniforms: { zenith: { value: new Color() }, horizon: { value: new Color() }, up: { value: up } },
      vertexShader: "varying vec3 way; void main() { way = position; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }",
      fragmentShader: `varying vec3 way; uniform vec3 zenith; uniform vec3 horizon; uniform vec3 up;
        void main() {
          float height = max(dot(normalize(way), up), 0.0);
          gl_FragColor = vec4(mix(horizon, zenith, 1.0 - pow(1.0 - height, 4.0)), 1.0);
          #include <colorspace_fragment>
        }`,
    });
    this.dome = new Mesh(new SphereGeometry(RADIUS, 24, 16), this.material);
    this.dome.renderOrder = -10;
    this.dome.frustumCulled = false;
    world.add(this.dome);
    world.fog = this.fog;
  }

  /** One never comes nearer to it. */
  around(eye: Vector3): void {
    this.dome.position.copy(eye);
  }

  paint(theme: Theme): void {
    const [zenith, horizon] = theme.dark ? ["#0f1a2b", "#3a4656"] : ["#5b94d1", "#d5e2ec"];
    this.material.uniforms.zenith.value.set(zenith);
    this.material.uniforms.horizon.value.set(horizon);
    this.fog.color.set(horizon);
    this.world.fog = this.fog;
  }
}
